export { BegunSignInStore } from './begun-sign-in.store.js';
export {
  SIGN_IN_METHODS,
  type Confirmation,
  type ConsoleSession,
  type NewConsoleSession,
  type OpenedConsoleSession,
  type SessionHolder,
  type SignInMethod,
} from './console-session.js';
export { CONFIRMATION_SECONDS, ConsoleSessionStore, SESSION_SECONDS } from './console-session.store.js';
export { PhoneSignInStore } from './phone-sign-in.store.js';
export { SecondStepStore } from './second-step.store.js';
export {
  type CodeRequest,
  type VerifiedHolder,
  type VerificationSignIn,
  VerificationSignInStore,
} from './verification-sign-in.store.js';
export { SignInBrandStore } from './sign-in-brand.store.js';
