export {
  MAX_AN_HOUR,
  notSent,
  SENT_WITHIN_SECONDS,
  TEST_MESSAGE_STATES,
  testMessageText,
  UNKNOWN_RESULT,
  type ClaimedTestMessage,
  type TestMessageResult,
} from './test-message.js';
export { TestMessageStore, type AddedTestMessage } from './test-message.store.js';
