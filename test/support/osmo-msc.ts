import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../../config/stack/postgres.mjs';
import { compileC } from './foreign-stack.js';
import { findProgram, stopProcess } from './programs.js';
import { until } from './until.js';

const READY_WITHIN_MS = 15_000;
const TERMINAL_MS = 5_000;
/** OsmoMSC's terminal always has this port, so each instance has a loopback address of its own. */
const TERMINAL_PORT = 4254;

export interface OsmoMscSystem {
  readonly systemId: string;
  readonly password: string;
}

/** Debian's OsmoMSC, a GSM switch, without its radio network: its SMSC for SMPP. */
export class OsmoMsc {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-osmo-msc-'));
  #child: ChildProcess | undefined;
  #ports = { smpp: 0, gateway: 0 };

  constructor(private readonly systems: readonly OsmoMscSystem[]) {
    compileC('sctp-as-tcp.c', this.#preloaded, ['-shared', '-fPIC', '-ldl']);
  }

  /** Resolves with the port of its SMSC when it answers. The port remains the same after a stop. */
  async start(): Promise<number> {
    if (this.#ports.smpp === 0) this.#ports = { smpp: await freePort(), gateway: await freePort() };
    const file = path.join(this.#folder, 'osmo-msc.cfg');
    writeFileSync(file, this.#configuration());
    const log = openSync(this.#log, 'a');
    this.#child = spawn(findProgram('osmo-msc') ?? 'osmo-msc', ['-c', file], {
      cwd: this.#folder,
      env: { ...process.env, LD_PRELOAD: this.#preloaded },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await until('OsmoMSC answers', READY_WITHIN_MS, async () => (await this.configure([])).includes('OsmoMSC>'));
    return this.#ports.smpp;
  }

  /** Executes these lines in the SMPP part of its configuration; returns what the terminal printed, empty if it is down. */
  configure(lines: readonly string[]): Promise<string> {
    return new Promise((resolve) => {
      const terminal = net.connect(TERMINAL_PORT, this.#address);
      let printed = '';
      terminal.setTimeout(TERMINAL_MS, () => terminal.destroy());
      terminal.on('data', (octets) => (printed += octets.toString('latin1')));
      terminal.on('error', () => undefined);
      terminal.on('close', () => resolve(printed));
      const commands = ['enable', 'configure terminal', 'smpp', ...lines, 'end', 'exit'];
      terminal.write(commands.map((line) => `${line}\r\n`).join(''));
    });
  }

  /** The lines of its log about SMPP and short messages. */
  get lines(): readonly string[] {
    return readFileSync(this.#log, 'utf8').split('\n');
  }

  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }

  /** Whether the system has sent a bind since its last unbind. */
  hasBind(systemId: string): boolean {
    const [bind, unbind] = [`[${systemId}] Rx BIND`, `[${systemId}] Rx UNBIND`];
    return this.lines.findLast((line) => line.includes(bind) || line.includes(unbind))?.includes(bind) ?? false;
  }

  async stop(): Promise<void> {
    if (this.#child !== undefined) await stopProcess(this.#child);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #log(): string {
    return path.join(this.#folder, 'osmo-msc.log');
  }

  get #preloaded(): string {
    return path.join(this.#folder, 'sctp-as-tcp.so');
  }

  get #address(): string {
    return `127.1.${this.#ports.smpp >> 8}.${this.#ports.smpp & 0xff}`;
  }

  #configuration(): string {
    const systems = this.systems.map(({ systemId, password }) => ` esme ${systemId}\n  password ${password}`);
    return `
log stderr
 logging filter all 1
 logging color 0
 logging level set-all error
 logging level smpp info
 logging level lsms info
line vty
 no login
 bind ${this.#address}
ctrl
 bind ${this.#address}
network
 network country code 1
 mobile network code 1
msc
 mgw remote-ip ${this.#address}
 mgw local-ip 127.0.0.1
 mgw local-port ${this.#ports.gateway}
hlr
 remote-ip ${this.#address}
smsc
 database ${path.join(this.#folder, 'sms.db')}
smpp
 local-tcp-ip 127.0.0.1 ${this.#ports.smpp}
 system-id osmo
 policy closed
${systems.join('\n')}
`;
  }
}
