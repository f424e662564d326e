export type { RbmCommand, RbmCommandKind } from './rbm-commands.sql.js';
