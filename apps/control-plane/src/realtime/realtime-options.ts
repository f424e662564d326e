/** Options of the gateway besides its services. */
export class RealtimeOptions {
  constructor(
    /** Reports a failure while a message was handled. Must not throw. */
    readonly onError: (error: unknown) => void,
  ) {}
}
