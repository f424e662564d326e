/** An SMS that reached a simulated phone. */
export interface ReceivedSms {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly dataCoding: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
}

/** The latest messages on the simulated phones, oldest first; above the bound the oldest are removed. */
export class Mailbox {
  readonly #messages: ReceivedSms[] = [];

  constructor(private readonly most: number) {}

  add(message: ReceivedSms): void {
    this.#messages.push(message);
    if (this.#messages.length > this.most) this.#messages.shift();
  }

  /** Messages to one number, or all. A plus that a query string turned into a space is read as a plus. */
  list(phone: string | undefined): ReceivedSms[] {
    if (phone === undefined) return [...this.#messages];
    const number = phone.replace(/^ /, '+');
    return this.#messages.filter(({ to }) => to === number);
  }
}
