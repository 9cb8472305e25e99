// FFTW in single precision, and its new-array execution under names that render code may call: executing a plan neither
// allocates nor locks (FFTW manual, "Thread safety": only fftw_execute and its new-array variants are re-entrant).
#pragma once
#include <fftw3.h>

#define FFTW_REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))

/// Real samples to split spectra.
FFTW_REALTIME_SAFE static inline void backline_fft_forward(void *_Nonnull plan, float *_Nonnull samples,
                                                           float *_Nonnull real, float *_Nonnull imaginary) {
  fftwf_execute_split_dft_r2c((fftwf_plan)plan, samples, real, imaginary);
}

/// Split spectra to real samples, times the length; what the spectra held is lost.
FFTW_REALTIME_SAFE static inline void backline_fft_inverse(void *_Nonnull plan, float *_Nonnull real,
                                                           float *_Nonnull imaginary, float *_Nonnull samples) {
  fftwf_execute_split_dft_c2r((fftwf_plan)plan, real, imaginary, samples);
}

/// A complex transform of split numbers into others.
FFTW_REALTIME_SAFE static inline void backline_fft_split(void *_Nonnull plan, float *_Nonnull real,
                                                         float *_Nonnull imaginary, float *_Nonnull toReal,
                                                         float *_Nonnull toImaginary) {
  fftwf_execute_split_dft((fftwf_plan)plan, real, imaginary, toReal, toImaginary);
}
