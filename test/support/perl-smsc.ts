import path from 'node:path';
import { LineProcess } from './foreign-stack.js';
import { PASSWORD } from './gateway-harness.js';

const SCRIPT = path.resolve('test/interop/net-smpp-smsc.pl');

/** A submit_sm as Net::SMPP read it. */
export interface PerlSubmit {
  readonly id: string;
  readonly source: string;
  readonly destination: string;
  readonly text: string;
  readonly registeredDelivery: number;
}

/** A carrier on Net::SMPP. */
export class PerlSmsc {
  readonly name = 'perl';
  #process: LineProcess | undefined;

  constructor(private readonly systemId = 'us') {}

  async listen(): Promise<number> {
    this.#process = new LineProcess('perl', [SCRIPT, this.systemId, PASSWORD]);
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

  get submits(): PerlSubmit[] {
    return this.lines
      .filter((line) => line.startsWith('submitted'))
      .map((line) => {
        const [, id = '', source = '', destination = '', hex = '', registered = ''] = line.split(' ');
        const text = Buffer.from(hex, 'hex').toString('latin1');
        return { id, source, destination, text, registeredDelivery: Number(registered) };
      });
  }

  /** Sends a deliver_sm and returns its command_status. */
  async deliver(from: string, to: string, text: string | Buffer, esmClass = 0): Promise<number> {
    const line = `deliver ${from} ${to} ${Buffer.from(text).toString('hex')} ${esmClass}`;
    const [, status] = (await this.#process?.ask(line, 'delivered')) ?? [];
    return Number(status);
  }

  /** Sends unbind. */
  unbind(): void {
    this.#process?.say('unbind');
  }

  async close(): Promise<void> {
    await this.#process?.stop();
  }
}
