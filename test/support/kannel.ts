import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';
import { findProgram, stopProcess } from './programs.js';
import { until } from './until.js';

const READY_WITHIN_MS = 15_000;
const SECRET = 'kannel';
/** Kannel's smsbox has a listen backlog of eleven; TCP retries further connections only after seconds. */
const SENDS_AT_A_TIME = 8;

export interface KannelOptions {
  /** The port of the SMSC on this machine that it binds to. */
  readonly smscPort: number;
  readonly systemId: string;
  readonly password: string;
  /** The port at which it requests `/mo?from=&to=&text=` for every message that it receives. */
  readonly receiverPort: number;
  /** Binds to the SMSC; one unless given. */
  readonly links?: number;
  /** Where it has its configuration and logs; a new temporary folder unless given. */
  readonly folder?: string;
  /** Kannel's: 0 debug, 1 information, 2 warnings, 3 errors, 4 panics; 1 unless given. */
  readonly logLevel?: number;
}

/** Whether both of its programs are on this machine. */
export const isKannelInstalled = (): boolean => findProgram('bearerbox') !== null && findProgram('smsbox') !== null;

/** Debian's Kannel: a bearerbox that binds as a transceiver, and an smsbox that sends and receives. */
export class Kannel {
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];
  #ports = { admin: 0, smsbox: 0, sendsms: 0 };

  constructor(private readonly o: KannelOptions) {
    this.#folder = o.folder ?? mkdtempSync(path.join(os.tmpdir(), 'countersign-kannel-'));
  }

  /** Ids of the bearerbox and the smsbox while they run. */
  get pids(): number[] {
    return this.#children.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Resolves when its links are bound. */
  async start(): Promise<void> {
    this.#ports = { admin: await freePort(), smsbox: await freePort(), sendsms: await freePort() };
    const file = path.join(this.#folder, 'kannel.conf');
    writeFileSync(file, this.configuration());
    this.launch('bearerbox', file);
    await until('Kannel is bound', READY_WITHIN_MS, async () => {
      const bound = (await this.status()).split('(online').length - 1;
      return bound === (this.o.links ?? 1);
    });
    this.launch('smsbox', file);
    await until('the smsbox is there', READY_WITHIN_MS, async () => (await this.status()).includes('smsbox:'));
  }

  /** The status page of the bearerbox. */
  async status(): Promise<string> {
    const url = `http://127.0.0.1:${this.#ports.admin}/status.txt?password=${SECRET}`;
    return fetch(url).then(
      (response) => response.text(),
      () => '',
    );
  }

  /**
   * Sends a text from one number to the other; returns the answer of the smsbox. With `receiptUrl` it requests
   * receipts.
   */
  async send(from: string, to: string, text: string, changes: Readonly<Record<string, string>> = {}): Promise<string> {
    const query = new URLSearchParams({ username: SECRET, password: SECRET, from, to, text, ...changes });
    const response = await fetch(`http://127.0.0.1:${this.#ports.sendsms}/cgi-bin/sendsms?${query.toString()}`);
    return response.text();
  }

  /** Sends all these texts, a few at a time; returns the answers in any order. */
  async sendAll(from: string, to: string, texts: readonly string[]): Promise<string[]> {
    const waiting = [...texts];
    const answers: string[] = [];
    const sendInTurn = async (): Promise<void> => {
      for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
        answers.push(await this.send(from, to, text));
      }
    };
    await Promise.all(Array.from({ length: SENDS_AT_A_TIME }, sendInTurn));
    return answers;
  }

  /** The log of the bearerbox. */
  log(): string {
    return readFileSync(path.join(this.#folder, 'bearerbox.log'), 'utf8');
  }

  /** Stops the bearerbox, which unbinds from the SMSC. */
  async stop(): Promise<void> {
    for (const child of this.#children.splice(0).reverse()) await stopProcess(child);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  private launch(program: 'bearerbox' | 'smsbox', configuration: string): void {
    const log = openSync(path.join(this.#folder, `${program}.log`), 'a');
    const args = ['-v', String(this.o.logLevel ?? 1), configuration];
    this.#children.push(spawn(findProgram(program) ?? program, args, { stdio: ['ignore', log, log] }));
    closeSync(log);
  }

  private configuration(): string {
    const { receiverPort, links = 1 } = this.o;
    const { admin, smsbox, sendsms } = this.#ports;
    return `
group = core
admin-port = ${admin}
admin-interface = 127.0.0.1
admin-password = ${SECRET}
status-password = ${SECRET}
smsbox-port = ${smsbox}
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = internal
sms-resend-freq = 1

${Array.from({ length: links }, (_, at) => this.smscGroup(`gateway${at === 0 ? '' : at}`)).join('\n')}
group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${smsbox}
sendsms-port = ${sendsms}
sendsms-interface = 127.0.0.1
global-sender = 0

group = sendsms-user
username = ${SECRET}
password = ${SECRET}
max-messages = 10
concatenation = true

group = sms-service
keyword = default
catch-all = true
max-messages = 0
get-url = "http://127.0.0.1:${receiverPort}/mo?from=%p&to=%q&text=%a"
`;
  }

  /** One bind. */
  private smscGroup(id: string): string {
    const { smscPort, systemId, password } = this.o;
    return `group = smsc
smsc = smpp
smsc-id = ${id}
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = ${systemId}
smsc-password = ${password}
system-type = ""
interface-version = 34
source-addr-ton = 1
source-addr-npi = 1
dest-addr-ton = 1
dest-addr-npi = 1
enquire-link-interval = 1
reconnect-delay = 1
max-pending-submits = 50
wait-ack = 10
`;
  }
}
