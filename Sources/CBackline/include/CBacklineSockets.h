// Sockets: what Swift cannot say well, because the kernel's interface is unions, flexible control messages and macros.
// Nothing here is for the render thread. Every descriptor is non-blocking and closed on exec. Functions that return a
// descriptor or a count return -errno where they fail.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An address of either family. IPv4 sits in `low`; IPv6 in `high` and `low`, both as numbers of the machine.
typedef struct NetworkAddress {
  uint64_t high;
  uint64_t low;
  /// The interface of a link-local IPv6 address, else 0.
  uint32_t scope;
  uint16_t port;
  /// 4 or 6.
  uint16_t family;
} NetworkAddress;

/// Reads a numeric address (`127.0.0.1`, `::1`); false where it is none.
bool backline_parse_address(const char *_Nonnull text, uint16_t port, NetworkAddress *_Nonnull address);
/// Writes the address without its port, ended by NUL, into at least 64 bytes.
void backline_format_address(const NetworkAddress *_Nonnull address, char *_Nonnull text);

/// A UDP socket bound to `address`, with the largest receive buffer that the system grants, up to `receiveBuffer` bytes,
/// that counts the kernel's drops and learns which destinations refused.
int32_t backline_open_datagram_socket(const NetworkAddress *_Nonnull address, int32_t receiveBuffer);
/// A TCP socket that listens on `address`.
int32_t backline_open_listener(const NetworkAddress *_Nonnull address);
/// The port that a socket is bound to, or -errno.
int32_t backline_local_port(int32_t descriptor);
/// The next connection of a listener.
int32_t backline_accept(int32_t listener);

/// Sends one datagram; 0 or -errno.
int32_t backline_send_datagram(int32_t descriptor, const void *_Nonnull bytes, size_t length,
                               const NetworkAddress *_Nonnull destination);
/// Sends what a connection takes at once, without SIGPIPE; how many bytes, or -errno.
int64_t backline_send_stream(int32_t descriptor, const void *_Nonnull bytes, size_t length);
/// Receives what a connection holds; how many bytes, 0 at its end, or -errno.
int64_t backline_receive_stream(int32_t descriptor, void *_Nonnull bytes, size_t capacity);

/// The next destination that refused a datagram, out of the socket's error queue: 1 with `destination` filled, 0 where
/// the queue is empty, -1 for another error than a refusal (ask again).
int32_t backline_next_refusal(int32_t descriptor, NetworkAddress *_Nonnull destination);

/// One datagram of a batch; its bytes hold until the next receive.
typedef struct ReceivedDatagram {
  const void *_Nullable bytes;
  size_t length;
  NetworkAddress sender;
} ReceivedDatagram;

/// Memory for many datagrams, received with one system call.
typedef struct DatagramBatch DatagramBatch;

/// A batch of `capacity` datagrams (at most 64), or NULL without memory.
DatagramBatch *_Nullable backline_batch_create(int32_t capacity);
void backline_batch_free(DatagramBatch *_Nonnull batch);
/// Receives what is there, up to the capacity; how many, or -errno.
int32_t backline_batch_receive(DatagramBatch *_Nonnull batch, int32_t descriptor);
ReceivedDatagram backline_batch_datagram(const DatagramBatch *_Nonnull batch, int32_t index);
/// The datagrams that the kernel has dropped on this socket, as last reported; wraps at 2^32.
uint32_t backline_batch_drops(const DatagramBatch *_Nonnull batch);
