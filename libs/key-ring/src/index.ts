export { checkKeys, KeyCheckError, type KeyCheckOptions, recordedMasterVersions } from './key-check.js';
export { listNeeds, type KeyNeed } from './key-needs.js';
export { Resealer } from './resealer.js';
export { recordRotationEnd } from './rotation-end.js';
export { joinDependants, type KeyDependants, type SealedColumn, type VersionedRows } from './sealed-column.js';
