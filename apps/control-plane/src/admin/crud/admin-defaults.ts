import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';

const EVERY_COUNTRY = ['*'];

/** Defaults of new accounts and brands. */
@Injectable()
export class AdminDefaults {
  /** Countries that a new account sends codes to (contract, OTP). */
  readonly otpCountries: readonly string[];
  /** The entropy key of new brands. */
  readonly entropyKeyVersion: number;

  constructor({ production, entropyKeys }: ControlPlaneSettings) {
    this.otpCountries = production ? [] : EVERY_COUNTRY;
    this.entropyKeyVersion = Math.max(...entropyKeys.keys());
  }
}
