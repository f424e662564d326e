import { Module } from '@nestjs/common';
import { ConsoleSessionsController } from './console-sessions.controller.js';
import { BegunSignInStore, PhoneSignInStore, SignInBrandStore } from '@countersign/accounts/console-sessions';
import { provideClass } from '@countersign/composition';
import { ServerKeys } from '@countersign/keys';
import { ControlPlaneSettings } from '@countersign/settings';
import { OidcClient } from './oidc.client.js';
import { OidcController } from './oidc.controller.js';
import { OidcRecords } from './oidc-records.js';
import { OidcSignInService } from './oidc-sign-in.service.js';
import { LinkController } from './link.controller.js';
import { PhoneSignInController } from './phone-sign-in.controller.js';
import { PhoneSignInService } from './phone-sign-in.service.js';
import { SignInBrand } from './sign-in-brand.js';
import { SignInCodes } from './sign-in-codes.js';
import { SignInVerifications } from './sign-in-verifications.js';
import { SignInController } from './sign-in.controller.js';
import { SignInService } from './sign-in.service.js';

/** The calls of the console alone: sign-in, sessions. All others are those of the API, see `http/console-requests.ts`. */
@Module({
  controllers: [SignInController, LinkController, OidcController, PhoneSignInController, ConsoleSessionsController],
  providers: [
    SignInService,
    OidcClient,
    OidcRecords,
    OidcSignInService,
    SignInBrand,
    SignInCodes,
    SignInVerifications,
    PhoneSignInService,
    provideClass(PhoneSignInStore, ServerKeys),
    provideClass(SignInBrandStore, ServerKeys, ControlPlaneSettings),
    provideClass(BegunSignInStore, ServerKeys),
  ],
})
export class ConsoleModule {}
