import smpp, { type Session } from 'smpp';
import { until } from './until.js';

const ANSWER_MS = 5_000;
const ACCEPTED_WITHIN_MS = 60_000;
const ESME_ROK = 0;

export interface Sms {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export interface Account {
  readonly port: number;
  readonly systemId: string;
  readonly password: string;
}

/**
 * A carrier's side of the link on npm `smpp`, an independent stack: binds as a transceiver and submits MOs. Reconnects
 * after a lost connection.
 */
export class Phone {
  /** Number of messages answered ESME_ROK; each must be stored. */
  answeredOk = 0;
  #session: Promise<Session> | undefined;

  constructor(private readonly account: Account) {}

  /** Sends once. Returns the command_status, or null without a response (link lost or 5 s timeout). */
  async send(sms: Sms): Promise<number | null> {
    const session = await this.#boundSession().catch(() => null);
    if (session === null) return null;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), ANSWER_MS);
      const finish = (status: number | null): void => {
        clearTimeout(timer);
        if (status === ESME_ROK) this.answeredOk += 1;
        resolve(status);
      };
      session.once('close', () => finish(null));
      session.submit_sm(
        {
          source_addr_ton: 1,
          source_addr_npi: 1,
          source_addr: sms.from.replace('+', ''),
          dest_addr_ton: 1,
          dest_addr_npi: 1,
          destination_addr: sms.to.replace('+', ''),
          short_message: sms.text,
        },
        (answer) => finish(answer.command_status),
      );
    });
  }

  /** Sends until answered ESME_ROK, as a carrier does after a retryable status or no response. */
  sendUntilOk(sms: Sms): Promise<void> {
    return until(
      `an SMS from ${sms.from} is accepted`,
      ACCEPTED_WITHIN_MS,
      async () => (await this.send(sms)) === ESME_ROK,
    );
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    session?.destroy();
  }

  #boundSession(): Promise<Session> {
    this.#session ??= this.#bind().catch((error: unknown) => {
      this.#session = undefined;
      throw error;
    });
    return this.#session;
  }

  #bind(): Promise<Session> {
    return new Promise((resolve, reject) => {
      const session = smpp.connect({ url: `smpp://127.0.0.1:${this.account.port}` });
      const lost = (): void => {
        this.#session = undefined;
        session.destroy();
        reject(new Error('the link was lost'));
      };
      session.setMaxListeners(0);
      session.on('error', lost);
      session.on('close', lost);
      session.on('connect', () => {
        session.bind_transceiver({ system_id: this.account.systemId, password: this.account.password }, (answer) => {
          if (answer.command_status === ESME_ROK) resolve(session);
          else lost();
        });
      });
    });
  }
}
