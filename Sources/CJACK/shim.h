#pragma once
#include <jack/jack.h>
#include <jack/metadata.h>
#include <jack/statistics.h>
#include <jack/thread.h>
#include <jack/uuid.h>

/// `jack_client_open` is variadic, which Swift does not import.
static inline jack_client_t *backline_jack_open(const char *name, jack_options_t options, jack_status_t *status,
                                                const char *server) {
  return server ? jack_client_open(name, (jack_options_t)(options | JackServerName), status, server)
                : jack_client_open(name, options, status);
}
