// The colours that figures and lab share. The lab has them as tokens, for light and dark pages (lab/src/style/tokens.css);
// figures have the light ones.

/** What this library serves in order: `--ours` of the lab. */
export const OURS = '#0f8a7e';
/** What lets threads overtake: `--barging` of the lab. */
export const BARGING = '#d9480f';
/** What else is beside them: `--c8` of the lab. */
export const BESIDE = '#6b7280';
