import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compileC, LineProcess } from './foreign-stack.js';
import { PASSWORD } from './gateway-harness.js';
import { LineSmsc } from './line-smsc.js';

const LIBRARY = ['-I/usr/include/libsmpp34', '-lsmpp34'];

/** Our ESME and our SMSC on Osmocom's libsmpp34, compiled into a temporary folder. */
export class Smpp34 {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-smpp34-'));
  readonly #esmes: LineProcess[] = [];
  readonly #smscs: LineSmsc[] = [];

  constructor() {
    for (const program of ['smpp34-esme', 'smpp34-smsc']) compileC(`${program}.c`, this.#path(program), LIBRARY);
  }

  /** Connects to the port of this machine and sends a bind. */
  esme(port: number, systemId: string, kind: string, password = PASSWORD): LineProcess {
    const esme = new LineProcess(this.#path('smpp34-esme'), [`${port}`, systemId, password, kind]);
    this.#esmes.push(esme);
    return esme;
  }

  /** An SMSC that accepts our usual credentials. */
  smsc(name: string): LineSmsc {
    const smsc = new LineSmsc(name, this.#path('smpp34-smsc'), ['us', PASSWORD]);
    this.#smscs.push(smsc);
    return smsc;
  }

  /** Lines about PDUs of ours that the library could not decode, or that the programs did not expect. */
  get failures(): string[] {
    return [...this.#esmes, ...this.#smscs].flatMap(({ lines }) => lines.filter((line) => line.startsWith('failed')));
  }

  /** Ends the programs and removes the folder. */
  async close(): Promise<void> {
    await Promise.all(this.#esmes.map((esme) => esme.stop()));
    await Promise.all(this.#smscs.map((smsc) => smsc.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #path(program: string): string {
    return path.join(this.#folder, program);
  }
}
