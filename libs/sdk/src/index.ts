export type {
  AccountBrand,
  AccountBrandChange,
  AccountCalls,
  AccountKey,
  AccountRequest,
  AccountWebhook,
  AccountWebhookChange,
  KeyLimits,
  NewAccountKey,
  OwnAccount,
  PageQuery,
  Scope,
  ShownAccountKey,
} from './account.js';
export * from './browser.js';
export {
  CountersignClient,
  type ClientOptions,
  type ConfirmOptions,
  type KeyedCallOptions,
  type SessionQuery,
} from './client.js';
export type { Delivery, DeliveryAttempt, DeliveryQuery, DeliveryStatus, RotatedSecret } from './delivery.js';
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CountersignError,
  InvalidCodeError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  PermissionError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  type ErrorCode,
  type UnknownErrorCode,
} from './errors.js';
export type { ErrorAnswer } from './error-answer.js';
export type { Page } from './fields.js';
export { SDK_VERSION } from './sdk-version.js';
export type {
  ApprovedSession,
  Channel,
  CheckedCode,
  CreatedSession,
  CreateSession,
  ListedApprovedSession,
  ListedSession,
  SentCode,
  Session,
  SessionStatus,
  UnapprovedSession,
} from './session.js';
export type { CallOptions, FetchAnswer, FetchFunction, FetchRequest } from './transport.js';
export type { UsageFigures, UsageGroup, UsageQuery, UsageReport } from './usage.js';
export {
  verifyWebhook,
  WebhookVerificationError,
  type WebhookHeaders,
  type WebhookOptions,
  type WebhookRefusal,
} from './webhook.js';
export type {
  CompletedEvent,
  DisabledEvent,
  EndedEvent,
  OtpDeliveryEvent,
  SenderMismatchEvent,
  TestEvent,
  UnknownEvent,
  WebhookEvent,
} from './webhook-event.js';
