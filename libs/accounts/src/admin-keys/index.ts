export { AdminKeyDirectory, type LiveAdminKey } from './admin-key.directory.js';
export { ADMIN_KEYS, AdminKeyEntity, type AdminKey } from './admin-key.entity.js';
export { ADMIN_ROLES, ROOT_NAME, type AdminPrincipal, type AdminRole } from './admin-key.js';
export { AdminKeyStore } from './admin-key.store.js';
