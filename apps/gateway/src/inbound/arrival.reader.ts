import { CarrierDirectory } from '@countersign/carriers/config';
import { ServerKeys } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { isOfUnknownFormat, readSender, TON, type SenderEvidence } from '@countersign/phone';
import type { SmppAddress } from '@countersign/smpp/pdu';
import type { InboundCommand } from './inbound-command.js';
import { SenderLearner } from './sender-learner.js';
import { zip } from './zip.js';

/** The country of an MO's destination number, or the possible countries when it is unknown. */
interface ReceivingCountry {
  readonly country: string | null;
  readonly possible: readonly string[];
}

/** An MO with its sealed text and the evidence on its sender. */
export type Arrival = readonly [InboundCommand, Buffer, SenderEvidence];

/** Reads the senders of MOs, by the format of their link, and seals the texts. */
@Injectable()
export class ArrivalReader {
  constructor(
    private readonly keys: ServerKeys,
    private readonly carriers: CarrierDirectory,
    private readonly learner: SenderLearner,
  ) {}

  /** In the order of the commands. Call before the transaction, so that no row is locked while texts are sealed. */
  async readArrivals(commands: readonly InboundCommand[]): Promise<Arrival[]> {
    const senders = await this.readSenders(commands);
    const sealed = commands.map(({ id, message }) => this.keys.seal('message-text', message.text, id));
    return zip(commands, sealed, senders);
  }

  /** Passes the sender of a stored message to the learner. */
  observeSender([{ link }, , sender]: Arrival): void {
    if (sender.shows !== null) this.learner.observe(link, sender);
  }

  /** Reads the sender of each address. The receiving number's country is looked up only where it matters. */
  private async readSenders(commands: readonly InboundCommand[]): Promise<SenderEvidence[]> {
    const receiving = new Map<string, ReceivingCountry>();
    for (const command of commands) {
      const { source, destination } = command.message;
      if (isInternational(source) || !this.needsSender(command) || receiving.has(keyOf(destination))) continue;
      receiving.set(keyOf(destination), await this.receivingOf(destination));
    }
    return commands.map((command) => {
      if (!this.needsSender(command)) return NOT_READ;
      const { source, destination } = command.message;
      const known = isInternational(source) ? undefined : receiving.get(keyOf(destination));
      const { country, possible } = known ?? UNKNOWN_COUNTRY;
      return readSender(source, country, this.learner.ruleOf(command.link), possible);
    });
  }

  private async receivingOf(destination: SmppAddress): Promise<ReceivingCountry> {
    const country = await this.carriers.receivingCountry(destination);
    return { country, possible: country === null ? await this.carriers.possibleCountries(destination) : [] };
  }

  /** Senders of messages without a token are read too while the link learns: they confirm or contradict its format. */
  private needsSender(command: InboundCommand): boolean {
    return (
      mayContainToken(command) || (isOfUnknownFormat(command.message.source) && this.learner.isLearning(command.link))
    );
  }
}

const mayContainToken = ({ message }: InboundCommand): boolean => message.tokens.length > 0 || message.part !== null;

const NOT_READ: SenderEvidence = { phone: null, ambiguous: false, shows: null };

const UNKNOWN_COUNTRY: ReceivingCountry = { country: null, possible: [] };

const isInternational = ({ ton, value }: SmppAddress): boolean => ton === TON.international || value.startsWith('+');

const keyOf = ({ ton, value }: SmppAddress): string => `${ton}:${value}`;
