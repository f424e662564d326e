/** Defaults of new accounts and brands. A class, so that Nest can inject it. */
export class AdminDefaults {
  constructor(
    /** Countries that a new account sends codes to (contract, OTP). */
    readonly otpCountries: readonly string[],
    /** The entropy key of new brands. */
    readonly entropyKeyVersion: number,
  ) {}
}
