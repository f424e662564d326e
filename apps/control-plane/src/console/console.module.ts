import {
  BegunSignInStore,
  PhoneSignInStore,
  SecondStepStore,
  SignInBrandStore,
} from '@countersign/accounts/console-sessions';
import { provide, provideClass } from '@countersign/composition';
import { ServerKeys } from '@countersign/keys';
import { ControlPlaneSettings } from '@countersign/settings';
import { Module } from '@nestjs/common';
import { ConsoleFiles } from '../console-pages/console-files.js';
import { ConsolePagesController } from '../console-pages/console-pages.controller.js';
import { ConsoleSessionsController } from './console-sessions.controller.js';
import { OidcClient } from './oidc.client.js';
import { OidcController } from './oidc.controller.js';
import { OidcRecords } from './oidc-records.js';
import { OidcSignInService } from './oidc-sign-in.service.js';
import { FirstStepService } from './first-step.service.js';
import { LinkController } from './link.controller.js';
import { PhoneSignInController } from './phone-sign-in.controller.js';
import { PhoneSignInService } from './phone-sign-in.service.js';
import { SecondStepController } from './second-step.controller.js';
import { SecondStepService } from './second-step.service.js';
import { SignInCalls } from './sign-in-calls.js';
import { SessionConfirmationController } from './session-confirmation.controller.js';
import { SessionConfirmationService } from './session-confirmation.service.js';
import { SignInWaysController } from './sign-in-ways.controller.js';
import { SignInBrand } from './sign-in-brand.js';
import { SignInCodes } from './sign-in-codes.js';
import { SignInVerifications } from './sign-in-verifications.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';

/** The console's pages, and its sign-in and sessions. Its other calls are those of the API, see `http/console-requests.ts`. */
@Module({
  controllers: [
    SignInController,
    SignInWaysController,
    LinkController,
    OidcController,
    PhoneSignInController,
    SecondStepController,
    ConsoleSessionsController,
    SessionConfirmationController,
    ConsolePagesController,
  ],
  providers: [
    provide(ConsoleFiles, [], () => ConsoleFiles.read()),
    SignInService,
    SessionConfirmationService,
    OidcClient,
    OidcRecords,
    OidcSignInService,
    SignInBrand,
    SignInCodes,
    SignInVerifications,
    SignInCalls,
    PhoneSignInService,
    SecondStepService,
    FirstStepService,
    provideClass(SecondStepStore, ServerKeys),
    provideClass(PhoneSignInStore, ServerKeys),
    provideClass(SignInBrandStore, ServerKeys, ControlPlaneSettings),
    provideClass(BegunSignInStore, ServerKeys),
  ],
})
export class ConsoleModule {}
