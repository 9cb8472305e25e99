#define _GNU_SOURCE
#include "CBackline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

// MARK: Addresses

static uint64_t big_endian(const uint8_t *bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
  return value;
}

static void store_big_endian(uint64_t value, uint8_t *bytes) {
  for (int i = 7; i >= 0; i--, value >>= 8) bytes[i] = (uint8_t)value;
}

static socklen_t to_system(const NetworkAddress *address, struct sockaddr_storage *storage) {
  memset(storage, 0, sizeof *storage);
  if (address->family == 6) {
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(address->port);
    six->sin6_scope_id = address->scope;
    store_big_endian(address->high, six->sin6_addr.s6_addr);
    store_big_endian(address->low, six->sin6_addr.s6_addr + 8);
    return sizeof *six;
  }
  struct sockaddr_in *four = (struct sockaddr_in *)storage;
  four->sin_family = AF_INET;
  four->sin_port = htons(address->port);
  four->sin_addr.s_addr = htonl((uint32_t)address->low);
  return sizeof *four;
}

static NetworkAddress from_system(const struct sockaddr_storage *storage) {
  NetworkAddress address = {0};
  if (storage->ss_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)storage;
    address.family = 6;
    address.port = ntohs(six->sin6_port);
    address.scope = six->sin6_scope_id;
    address.high = big_endian(six->sin6_addr.s6_addr);
    address.low = big_endian(six->sin6_addr.s6_addr + 8);
  } else if (storage->ss_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)storage;
    address.family = 4;
    address.port = ntohs(four->sin_port);
    address.low = ntohl(four->sin_addr.s_addr);
  }
  return address;
}

bool backline_parse_address(const char *text, uint16_t port, NetworkAddress *address) {
  struct in_addr four;
  struct in6_addr six;
  memset(address, 0, sizeof *address);
  address->port = port;
  if (inet_pton(AF_INET, text, &four) == 1) {
    address->family = 4;
    address->low = ntohl(four.s_addr);
    return true;
  }
  if (inet_pton(AF_INET6, text, &six) == 1) {
    address->family = 6;
    address->high = big_endian(six.s6_addr);
    address->low = big_endian(six.s6_addr + 8);
    return true;
  }
  return false;
}

void backline_format_address(const NetworkAddress *address, char *text) {
  struct sockaddr_storage storage;
  to_system(address, &storage);
  const void *source = address->family == 6 ? (const void *)&((struct sockaddr_in6 *)&storage)->sin6_addr
                                            : (const void *)&((struct sockaddr_in *)&storage)->sin_addr;
  if (inet_ntop(storage.ss_family, source, text, 64) == NULL) snprintf(text, 64, "?");
}

// MARK: Opening

static void set_option(int descriptor, int level, int option, int value) {
  // An option that an older kernel lacks costs a counter or a buffer, not the socket.
  (void)setsockopt(descriptor, level, option, &value, sizeof value);
}

static int32_t failed(int descriptor) {
  int32_t code = errno;
  if (descriptor >= 0) close(descriptor);
  return -code;
}

static int open_bound(const NetworkAddress *address, int type) {
  struct sockaddr_storage storage;
  socklen_t length = to_system(address, &storage);
  int descriptor = socket(storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  if (address->family == 6) set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  // A listener may follow one whose connections still linger; two that listen at once are refused all the same.
  if (type == SOCK_STREAM) set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(descriptor, (struct sockaddr *)&storage, length) != 0) return failed(descriptor);
  return descriptor;
}

int32_t backline_open_datagram_socket(const NetworkAddress *address, int32_t receiveBuffer) {
  int descriptor = open_bound(address, SOCK_DGRAM);
  if (descriptor < 0) return descriptor;
  if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &receiveBuffer, sizeof receiveBuffer) != 0)
    set_option(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBuffer);
  if (setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &receiveBuffer, sizeof receiveBuffer) != 0)
    set_option(descriptor, SOL_SOCKET, SO_SNDBUF, receiveBuffer);
  set_option(descriptor, SOL_SOCKET, SO_RXQ_OVFL, 1);
  if (address->family == 6)
    set_option(descriptor, IPPROTO_IPV6, IPV6_RECVERR, 1);
  else
    set_option(descriptor, IPPROTO_IP, IP_RECVERR, 1);
  return descriptor;
}

int32_t backline_open_listener(const NetworkAddress *address) {
  int descriptor = open_bound(address, SOCK_STREAM);
  if (descriptor < 0) return descriptor;
  if (listen(descriptor, 128) != 0) return failed(descriptor);
  return descriptor;
}

int32_t backline_local_port(int32_t descriptor) {
  struct sockaddr_storage storage = {0};
  socklen_t length = sizeof storage;
  if (getsockname(descriptor, (struct sockaddr *)&storage, &length) != 0) return -errno;
  return from_system(&storage).port;
}

int32_t backline_accept(int32_t listener) {
  int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) return -errno;
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);  // a peer whose cable was pulled is gone within two minutes
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 4);
  return descriptor;
}

// MARK: Sending and receiving

int32_t backline_send_datagram(int32_t descriptor, const void *bytes, size_t length,
                               const NetworkAddress *destination) {
  struct sockaddr_storage storage;
  socklen_t addressLength = to_system(destination, &storage);
  for (int attempt = 0; attempt < 8; attempt++) {
    if (sendto(descriptor, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&storage, addressLength) >= 0)
      return 0;
    // Refusals of earlier datagrams, to whomever they went, are reported here first; the error queue tells whose.
    if (errno != ECONNREFUSED && errno != EINTR) break;
  }
  return -errno;
}

int64_t backline_send_stream(int32_t descriptor, const void *bytes, size_t length) {
  ssize_t sent;
  do sent = send(descriptor, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : sent;
}

int64_t backline_receive_stream(int32_t descriptor, void *bytes, size_t capacity) {
  ssize_t received;
  do received = recv(descriptor, bytes, capacity, MSG_DONTWAIT);
  while (received < 0 && errno == EINTR);
  return received < 0 ? -errno : received;
}

int32_t backline_next_refusal(int32_t descriptor, NetworkAddress *destination) {
  struct sockaddr_storage storage = {0};
  uint8_t byte;
  union {
    struct cmsghdr alignment;
    uint8_t bytes[512];
  } control;
  struct iovec vector = {.iov_base = &byte, .iov_len = sizeof byte};
  struct msghdr header = {.msg_name = &storage,
                          .msg_namelen = sizeof storage,
                          .msg_iov = &vector,
                          .msg_iovlen = 1,
                          .msg_control = &control,
                          .msg_controllen = sizeof control};
  if (recvmsg(descriptor, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return errno == EINTR ? -1 : 0;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&header); item != NULL; item = CMSG_NXTHDR(&header, item)) {
    bool isError = (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVERR) ||
                   (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVERR);
    if (!isError) continue;
    struct sock_extended_err error;
    memcpy(&error, CMSG_DATA(item), sizeof error);
    if (error.ee_errno != ECONNREFUSED) return -1;
    *destination = from_system(&storage);
    return 1;
  }
  return -1;
}

// MARK: Batches

enum { DATAGRAM_CAPACITY = 65536, MOST_DATAGRAMS = 64, CONTROL_CAPACITY = 64 };

struct DatagramBatch {
  int32_t capacity;
  uint32_t drops;
  struct mmsghdr headers[MOST_DATAGRAMS];
  struct iovec vectors[MOST_DATAGRAMS];
  struct sockaddr_storage senders[MOST_DATAGRAMS];
  union {
    struct cmsghdr alignment;
    uint8_t bytes[CONTROL_CAPACITY];
  } controls[MOST_DATAGRAMS];
  uint8_t *bytes;
};

DatagramBatch *backline_batch_create(int32_t capacity) {
  DatagramBatch *batch = calloc(1, sizeof *batch);
  if (batch == NULL) return NULL;
  batch->capacity = capacity < 1 ? 1 : capacity > MOST_DATAGRAMS ? MOST_DATAGRAMS : capacity;
  // Pages become resident only where large datagrams have been received.
  batch->bytes = malloc((size_t)batch->capacity * DATAGRAM_CAPACITY);
  if (batch->bytes == NULL) {
    free(batch);
    return NULL;
  }
  return batch;
}

void backline_batch_free(DatagramBatch *batch) {
  free(batch->bytes);
  free(batch);
}

int32_t backline_batch_receive(DatagramBatch *batch, int32_t descriptor) {
  for (int32_t i = 0; i < batch->capacity; i++) {
    batch->vectors[i] = (struct iovec){.iov_base = batch->bytes + (size_t)i * DATAGRAM_CAPACITY,
                                       .iov_len = DATAGRAM_CAPACITY};
    batch->headers[i].msg_hdr = (struct msghdr){.msg_name = &batch->senders[i],
                                                .msg_namelen = sizeof batch->senders[i],
                                                .msg_iov = &batch->vectors[i],
                                                .msg_iovlen = 1,
                                                .msg_control = &batch->controls[i],
                                                .msg_controllen = sizeof batch->controls[i]};
  }
  int count;
  do count = recvmmsg(descriptor, batch->headers, (unsigned)batch->capacity, MSG_DONTWAIT, NULL);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -errno;
  for (int i = 0; i < count; i++) {
    struct msghdr *header = &batch->headers[i].msg_hdr;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL; item = CMSG_NXTHDR(header, item)) {
      if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SO_RXQ_OVFL)
        memcpy(&batch->drops, CMSG_DATA(item), sizeof batch->drops);
    }
  }
  return count;
}

ReceivedDatagram backline_batch_datagram(const DatagramBatch *batch, int32_t index) {
  return (ReceivedDatagram){.bytes = batch->bytes + (size_t)index * DATAGRAM_CAPACITY,
                            .length = batch->headers[index].msg_len,
                            .sender = from_system(&batch->senders[index])};
}

uint32_t backline_batch_drops(const DatagramBatch *batch) { return batch->drops; }
