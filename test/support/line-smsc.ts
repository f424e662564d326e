import { LineProcess } from './foreign-stack.js';

/** A submit_sm as a foreign stack decoded it. */
export interface LineSubmit {
  readonly id: string;
  readonly source: string;
  readonly destination: string;
  readonly octets: Buffer;
  /** The octets as latin1. */
  readonly text: string;
  readonly registeredDelivery: number;
  readonly dataCoding: number;
  readonly esmClass: number;
}

/** A carrier on a foreign stack: a program that accepts one bind at a time and exchanges lines with the test. */
export class LineSmsc {
  #process: LineProcess | undefined;

  constructor(
    readonly name: string,
    private readonly command: string,
    private readonly args: readonly string[],
  ) {}

  async listen(): Promise<number> {
    this.#process = new LineProcess(this.command, this.args);
    const [, port] = await this.#process.next('listening');
    return Number(port);
  }

  /** Whether the last bind was accepted and its link is still open. */
  get isBound(): boolean {
    const last = this.lines.findLast((line) => line.startsWith('bound') || line === 'gone');
    return last === 'bound 0';
  }

  get lines(): readonly string[] {
    return this.#process?.lines ?? [];
  }

  count(line: string): number {
    return this.lines.filter((each) => each === line).length;
  }

  get submits(): LineSubmit[] {
    return this.lines.filter((line) => line.startsWith('submitted')).map(submitOf);
  }

  /** Sends a deliver_sm and returns its command_status. */
  async deliver(from: string, to: string, text: string | Buffer, esmClass = 0, dataCoding = 0): Promise<number> {
    return this.statusOf(`deliver ${from} ${to} ${Buffer.from(text).toString('hex')} ${esmClass} ${dataCoding}`);
  }

  /** Executes a line that sends a deliver_sm, and returns its command_status. */
  async statusOf(line: string): Promise<number> {
    const [, status] = await this.ask(line, 'delivered');
    return Number(status);
  }

  /** Executes a line and returns the words of the next unread line with that beginning. */
  async ask(line: string, beginning: string): Promise<string[]> {
    return (await this.#process?.ask(line, beginning)) ?? [];
  }

  say(line: string): void {
    this.#process?.say(line);
  }

  /** Sends unbind. */
  unbind(): void {
    this.say('unbind');
  }

  async close(): Promise<void> {
    await this.#process?.stop();
  }
}

function submitOf(line: string): LineSubmit {
  // An empty text leaves an empty field.
  const [, id = '', source = '', destination = '', hex = '', registered, coding, esmClass] = line.split(' ');
  const octets = Buffer.from(hex, 'hex');
  return {
    id,
    source,
    destination,
    octets,
    text: octets.toString('latin1'),
    registeredDelivery: Number(registered),
    dataCoding: Number(coding ?? 0),
    esmClass: Number(esmClass ?? 0),
  };
}
