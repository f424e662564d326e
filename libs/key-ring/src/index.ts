export {
  checkKeys,
  KeyCheckError,
  recordedMasterVersions,
  type EntropyCheck,
  type KeyCheckOptions,
} from './key-check.js';
export { listNeeds, type KeyNeed } from './key-needs.js';
export { Resealer, type ResealerOptions, type ResealStep } from './resealer.js';
export { joinDependants, type KeyDependants, type SealedColumn, type VersionedRows } from './sealed-column.js';
