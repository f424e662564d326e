/** What the gateway is given besides its services. */
export class RealtimeOptions {
  constructor(
    /** Hears what broke while a message was handled. Must not throw. */
    readonly onError: (error: unknown) => void,
  ) {}
}
