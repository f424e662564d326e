import { CarrierDirectory } from '@countersign/carriers/config';
import { ControlPlaneSettings } from '@countersign/settings';
import { Controller, Get, Inject } from '@nestjs/common';
import type { Plain } from '../admin/crud/plain.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { SignInWays } from './sign-in-ways.view.js';

@Controller('console/api/sign-in')
export class SignInWaysController {
  constructor(
    private readonly carriers: CarrierDirectory,
    @Inject(ControlPlaneSettings)
    private readonly settings: Pick<ControlPlaneSettings, 'oidc' | 'consoleSecondStep'>,
  ) {}

  @Get('ways')
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'listSignInWays',
    tag: 'Console',
    summary: 'List the ways to sign in',
    description: 'Those that are configured, for the page of the sign-in.',
    answer: { status: 200, description: 'The ways to sign in.', type: SignInWays },
    open: true,
    errors: [],
  })
  async ways(): Promise<Plain<SignInWays>> {
    const { oidc, consoleSecondStep: secondStep } = this.settings;
    const phone = await this.carriers.hasInboundNumber();
    return { key: true, oidc: oidc === null ? null : { name: oidc.name }, phone, secondStep };
  }
}
