#pragma once
#include <jack/jack.h>
#include <jack/metadata.h>
#include <jack/statistics.h>
#include <jack/thread.h>
#include <jack/uuid.h>

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

/// `jack_client_open` is variadic, which Swift does not import.
static inline jack_client_t *backline_jack_open(const char *name, jack_options_t options, jack_status_t *status,
                                                const char *server) {
  return server ? jack_client_open(name, (jack_options_t)(options | JackServerName), status, server)
                : jack_client_open(name, options, status);
}

// Variables of the library, which Swift takes for shared mutable state.

static inline const char *backline_jack_order_key(void) { return JACK_METADATA_ORDER; }

static inline const char *backline_jack_pretty_name_key(void) { return JACK_METADATA_PRETTY_NAME; }

// The calls that JACK allows in a process callback: they read shared memory, and neither allocate, lock nor wait.

REALTIME_SAFE static inline float *backline_jack_buffer(jack_port_t *port, jack_nframes_t frames) {
  return (float *)jack_port_get_buffer(port, frames);
}

REALTIME_SAFE static inline int backline_jack_cycle_times(const jack_client_t *client, jack_nframes_t *frames,
                                                          jack_time_t *current, jack_time_t *next, float *period) {
  return jack_get_cycle_times(client, frames, current, next, period);
}
