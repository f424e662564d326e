import { TestMessageStore } from '@countersign/carriers/test-messages';
import { GatewayTestMessages } from './gateway-test-messages.js';
import { TestMessageAttempt } from './test-message.attempt.js';
import { TestMessageSender } from './test-message.sender.js';

/** Messages that an engineer sends over a bind to try it. */
export const testMessagesProviders = [TestMessageStore, GatewayTestMessages, TestMessageAttempt, TestMessageSender];
