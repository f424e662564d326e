import { Module } from '@nestjs/common';
import { AnswerObserver } from '../operations/answer.observer.js';
import { AdminAddresses } from './admin-addresses.js';
import { RequestRecorder } from '../operations/request.recorder.js';
import { AllowedMethods } from './allowed-methods.js';
import { ConsoleAuthenticator } from './console.authenticator.js';
import { ErrorAnswers } from './error-answers.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { KeyUses } from './key-uses.js';
import { RawResponses } from './raw-responses.js';
import { RequestAdmission } from './request-admission.js';
import { RequestAuthorizer } from './request.authorizer.js';
import { RequestDeadline } from './request-deadline.js';
import { RequestQueue } from './request-queue.js';
import { RequestTransport } from './request-transport.js';
import { ServerHooks } from './server-hooks.js';
import { ServerShutdown } from './server.shutdown.js';

/** The processing of requests before and after their controllers. */
@Module({
  providers: [
    AllowedMethods,
    RequestDeadline,
    ErrorAnswers,
    RequestTransport,
    KeyUses,
    AdminAddresses,
    KeyAuthenticator,
    ConsoleAuthenticator,
    RequestAuthorizer,
    RequestQueue,
    RequestAdmission,
    RawResponses,
    RequestRecorder,
    AnswerObserver,
    ServerHooks,
    ServerShutdown,
  ],
  exports: [RequestAuthorizer, RawResponses, KeyAuthenticator, AdminAddresses],
})
export class HttpModule {}
