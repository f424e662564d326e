import { provide } from '@countersign/composition';
import { ControlPlaneSettings } from '@countersign/settings';
import { Module } from '@nestjs/common';
import { BrandLookup } from './brand-lookup.js';
import { LiveSessions } from './live-sessions.js';
import { SessionOpener } from './session.opener.js';
import { VerifyController } from './verify.controller.js';
import { VerifyService } from './verify.service.js';

@Module({
  controllers: [VerifyController],
  providers: [
    VerifyService,
    SessionOpener,
    BrandLookup,
    provide(LiveSessions, [ControlPlaneSettings], (settings) => LiveSessions.ofSettings(settings)),
  ],
})
export class VerifyModule {}
