export { MessageLog, type MessageRecord } from './message-log.js';
export { TEST_LINK_ID, type MessageFilter } from './message-log.sql.js';
