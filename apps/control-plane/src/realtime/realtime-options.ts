/** What the gateway tells others of. */
export class RealtimeOptions {
  constructor(
    /** Hears what broke while a message was handled. Must not throw. */
    readonly onError: (error: unknown) => void,
    /** Hears of the address that a bad ticket came from. Must not throw. */
    readonly onWrongTicket: (clientAddress: string) => void,
  ) {}
}
