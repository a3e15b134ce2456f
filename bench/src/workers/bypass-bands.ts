// The bands in which admissions are counted by their bypass. A bypass below 16 has a band of its own, because the limit
// of a capacitor shows there. Native rows have the same bands (native/probe.hpp).

/** The least bypass of each band: 0, 1, ... 15, then 16 to 99, 100 to 999, and so on. The last band has no end. */
export const BAND_STARTS: readonly number[] = [
  ...Array.from({ length: 16 }, (_, bypass) => bypass),
  16,
  100,
  1000,
  10_000,
  100_000,
];

export const BANDS = BAND_STARTS.length;

export function bypassBand(bypass: number): number {
  let band = Math.min(bypass, BANDS - 1);
  while ((BAND_STARTS[band] as number) > bypass) band--;
  return band;
}
