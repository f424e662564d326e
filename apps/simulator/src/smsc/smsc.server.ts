import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeText } from '@countersign/text';
import smpp, { type PDU, type PduValues, type Server, type Session } from 'smpp';
import { renderAddress, type SmscAddress } from './address.js';
import { FaultSwitches } from './fault-switches.js';
import { Mailbox, type ReceivedSms } from './mailbox.js';
import { splitMessage } from './message-parts.js';
import { receiptOf, type SubmittedMessage, wantsReceipt } from './receipt.js';
import { type LinkLimits, LinkWatchdog } from './link-watchdog.js';
import { type BindType, SmscLink } from './smsc.link.js';

const HOST = '127.0.0.1';
/** Messages that are kept for `GET /_admin/sms`. */
const REMEMBERED_MESSAGES = 10_000;
/** deliver_sm that wait for their answers, over all links. */
const MOST_UNANSWERED = 1_000;
/** 8 characters: the maximum of SMPP 3.3 peers. */
const MESSAGE_ID_BYTES = 4;

export interface SmscOptions {
  readonly systemId: string;
  readonly password: string;
  readonly log: (message: string) => void;
  /** Called for every SMS that reaches a phone. */
  readonly onReceived?: (sms: ReceivedSms) => void;
  readonly limits?: LinkLimits;
}

export interface LinkView {
  readonly systemId: string;
  readonly bindType: BindType | null;
  /** Whether an MO can be sent over it. */
  readonly receives: boolean;
  readonly since: string;
}

/** No bound peer accepts messages, or too many messages wait already. */
export class NotDeliverable extends Error {}
/** The text takes more than 255 parts. */
export class TextTooLong extends Error {}

/** The carrier: an SMSC on the server of npm `smpp`, an independent SMPP implementation. */
export class SmscServer {
  readonly switches = new FaultSwitches();
  readonly mailbox = new Mailbox(REMEMBERED_MESSAGES);
  readonly #links = new Map<SmscLink, LinkWatchdog>();
  readonly #server: Server;
  #turn = 0;
  #reference = 0;

  constructor(private readonly options: SmscOptions) {
    this.#server = smpp.createServer((session) => this.#accept(session));
  }

  /** Listens on this port of 127.0.0.1; 0: on any. Resolves with the port. */
  listen(on: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(on, HOST, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (error: Error) => this.options.log(`SMPP server: ${error.message}`));
        resolve(this.#server.address().port);
      });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#links.keys()].map((link) => link.unbind()));
    await closed;
  }

  links(): LinkView[] {
    return [...this.#links.keys()].map(({ systemId, bindType, receives, since }) => ({
      systemId,
      bindType,
      receives,
      since: since.toISOString(),
    }));
  }

  dropLinks(): void {
    for (const link of this.#links.keys()) link.destroy('dropped by the fault switch');
  }

  /**
   * Sends an SMS from a phone, its parts in order over one link. Resolves with the first command_status that is not 0,
   * else with 0. Rejects with NotDeliverable, TextTooLong, LinkLost or AnswerOverdue.
   */
  async sendMo(from: SmscAddress, to: SmscAddress, text: string): Promise<number> {
    const parts = splitMessage(text, this.#reference++);
    if (parts === null) throw new TextTooLong('the text takes more than 255 parts');
    const link = this.#receivingLink();
    for (const { text: message, dataCoding, udh } of parts) {
      const status = await link.deliver({
        source_addr_ton: from.ton,
        source_addr_npi: from.npi,
        source_addr: from.value,
        dest_addr_ton: to.ton,
        dest_addr_npi: to.npi,
        destination_addr: to.value,
        data_coding: dataCoding,
        short_message: udh === null ? { message } : { udh, message },
      });
      if (status !== smpp.errors.ESME_ROK) return status;
    }
    return smpp.errors.ESME_ROK;
  }

  #accept(session: Session): void {
    const events = {
      authenticate: (systemId: string, password: string) => this.#authenticate(systemId, password),
      onSubmit: (pdu: PDU, on: SmscLink) => this.#submit(pdu, on),
      answersEnquireLink: () => !this.switches.current.muteEnquireLink,
      onClosed: (closed: SmscLink, reason: string) => {
        this.#links.get(closed)?.stop();
        this.#links.delete(closed);
        this.options.log(`link of ${JSON.stringify(closed.systemId)} closed: ${reason}`);
      },
    };
    const link = new SmscLink(session, events);
    this.#links.set(link, new LinkWatchdog(link, this.options.limits));
  }

  #authenticate(systemId: string, password: string): number {
    if (this.switches.current.rejectBind) return smpp.errors.ESME_RBINDFAIL;
    if (systemId !== this.options.systemId) return smpp.errors.ESME_RINVSYSID;
    const [given, wanted] = [Buffer.from(password), Buffer.from(this.options.password)];
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return smpp.errors.ESME_RINVPASWD;
    return smpp.errors.ESME_ROK;
  }

  #receivingLink(): SmscLink {
    const receiving = [...this.#links.keys()].filter((link) => link.receives);
    const link = receiving[this.#turn++ % Math.max(receiving.length, 1)];
    if (link === undefined) throw new NotDeliverable('no receiver or transceiver is bound yet');
    const unanswered = receiving.reduce((sum, { unanswered: waiting }) => sum + waiting, 0);
    if (unanswered >= MOST_UNANSWERED) throw new NotDeliverable(`${unanswered} messages wait for their answers`);
    return link;
  }

  #submit(pdu: PDU, link: SmscLink): void {
    const verdict = this.switches.nextSubmit();
    if (verdict === 'throttle') {
      link.answer(pdu, { command_status: smpp.errors.ESME_RTHROTTLED });
      return;
    }
    if (verdict === 'queue_full') {
      link.answer(pdu, { command_status: smpp.errors.ESME_RMSGQFUL });
      return;
    }
    const message = submittedMessage(pdu);
    const sms = received(message, pdu.data_coding ?? 0);
    this.mailbox.add(sms);
    this.options.onReceived?.(sms);
    const respond = (): void => {
      if (!this.switches.current.muteSubmit) link.answer(pdu, { message_id: message.messageId });
    };
    const { receiptBeforeResponse } = this.switches.current;
    if (!receiptBeforeResponse) respond();
    this.#sendReceipt(message, pdu.registered_delivery ?? 0, link);
    if (receiptBeforeResponse) respond();
  }

  /** Uses the link of the submit if it accepts messages, else any that does. */
  #sendReceipt(message: SubmittedMessage, registeredDelivery: number, submitter: SmscLink): void {
    const state = this.switches.current.receipt;
    if (state === null || !wantsReceipt(registeredDelivery, state)) return;
    const link = submitter.receives ? submitter : [...this.#links.keys()].find(({ receives }) => receives);
    if (link === undefined) {
      this.options.log(`no link for the receipt of ${message.messageId}`);
      return;
    }
    const values: PduValues = receiptOf(message, state, new Date());
    link
      .deliver(values)
      .catch((error: unknown) => this.options.log(`receipt of ${message.messageId}: ${String(error)}`));
  }
}

function submittedMessage(pdu: PDU): SubmittedMessage {
  return {
    messageId: randomBytes(MESSAGE_ID_BYTES).toString('hex'),
    from: { ton: pdu.source_addr_ton ?? 0, npi: pdu.source_addr_npi ?? 0, value: pdu.source_addr ?? '' },
    to: { ton: pdu.dest_addr_ton ?? 0, npi: pdu.dest_addr_npi ?? 0, value: pdu.destination_addr ?? '' },
    text: textOf(pdu),
    at: new Date(),
  };
}

const received = ({ from, to, text, at }: SubmittedMessage, dataCoding: number): ReceivedSms => ({
  to: renderAddress(to),
  from: renderAddress(from),
  text,
  dataCoding,
  at: at.toISOString(),
});

/** The text as npm `smpp` decoded it; octets that it leaves undecoded are decoded here. */
function textOf(pdu: PDU): string {
  const [short, payload] = [pdu.short_message, pdu.message_payload].map(contentOf);
  const content = short === undefined || short.length === 0 ? (payload ?? '') : short;
  return typeof content === 'string' ? content : decodeText(content, pdu.data_coding ?? 0, 'gsm');
}

function contentOf(field: PDU['short_message']): string | Buffer | undefined {
  return typeof field === 'string' || Buffer.isBuffer(field) ? field : field?.message;
}
