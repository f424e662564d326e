export type { RbmCommand } from './rbm-command.sql.js';
export { RbmCommandStore } from './rbm-command.store.js';
