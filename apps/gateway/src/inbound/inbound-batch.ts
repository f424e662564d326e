import type { CarrierDirectory } from '@countersign/carriers/config';
import type { ConcatenationStore, MessagePart, MessageStore } from '@countersign/carriers/inbound';
import { leaseKey, type BindLeaseStore } from '@countersign/carriers/leases';
import type { ServerKeys } from '@countersign/keys';
import { isOfUnknownFormat, readSender, TON, type SenderEvidence } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import { tokenEdges } from '@countersign/session/tokens';
import type { InboundEvidence, SessionStore } from '@countersign/session';
import type { InboundVerdict } from '@countersign/session/rules';
import type { FoundToken } from '@countersign/session/tokens';
import type { SmppAddress } from '@countersign/smpp/pdu';
import { messageRow, type InboundCommand } from './inbound-command.js';
import { tokensOfPart } from './part-tokens.js';
import type { SenderLearner } from './sender-learner.js';

export interface InboundBatchOptions {
  readonly database: Database;
  readonly keys: ServerKeys;
  readonly carriers: CarrierDirectory;
  readonly sessions: SessionStore;
  readonly messages: MessageStore;
  readonly concatenations: ConcatenationStore;
  readonly leases: Pick<BindLeaseStore, 'findHeldLeases'>;
  readonly learner: Pick<SenderLearner, 'ruleOf' | 'isLearning' | 'observe'>;
  /** Receives the event ids of a transaction after its commit. Must neither throw nor block. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
}

/** The country of an MO's destination number, or the possible countries when it is unknown. */
interface ReceivingCountry {
  readonly country: string | null;
  readonly possible: readonly string[];
}

/** An MO with its sealed text and the evidence on its sender. */
type Arrival = readonly [InboundCommand, Buffer, SenderEvidence];

/**
 * Processes a set of MOs in one transaction: stores parts of long messages, matches sessions by token, and stores the
 * messages with their fates. Resolves after the commit with one verdict per command, in order. Safe to run twice: a stored
 * message is unchanged, and a session approved by the first run makes the second a duplicate. The verdict is null for an MO
 * over a connection whose lease is not held: nothing is written, and the carrier resends it to another gateway.
 */
export class InboundBatch {
  constructor(private readonly o: InboundBatchOptions) {}

  async storeAndMatch(commands: readonly InboundCommand[]): Promise<readonly (InboundVerdict | null)[]> {
    const senders = await this.readSenders(commands);
    // Before the transaction, so that no row is locked while texts are sealed.
    const sealed = commands.map(({ id, message }) => this.o.keys.seal('message-text', message.text, id));
    const arrived = zip(commands, sealed, senders);
    const { verdicts, eventIds } = await this.o.database.transaction(async (tx) => {
      const accepted = await this.withHeldLease(tx, arrived);
      const matched = await this.matchSessions(tx, accepted);
      return { verdicts: verdictsOf(arrived, accepted, matched.verdicts), eventIds: matched.eventIds };
    });
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    this.observeSenders(arrived, verdicts);
    return verdicts;
  }

  /** Passes senders of stored messages to the learner. */
  private observeSenders(arrived: readonly Arrival[], verdicts: readonly (InboundVerdict | null)[]): void {
    arrived.forEach(([{ link }, , sender], index) => {
      if (sender.shows !== null && verdicts[index] !== null) this.o.learner.observe(link, sender);
    });
  }

  /** The MOs over connections whose lease is held according to the database. */
  private async withHeldLease(tx: Executor, arrived: readonly Arrival[]): Promise<readonly Arrival[]> {
    const leases = arrived.flatMap(([{ link }]) => (link.lease === undefined ? [] : [link.lease]));
    if (leases.length === 0) return arrived;
    const holding = await this.o.leases.findHeldLeases(tx, leases);
    return arrived.filter(([{ link }]) => link.lease === undefined || holding.has(leaseKey(link.lease)));
  }

  private async matchSessions(
    tx: Executor,
    arrived: readonly Arrival[],
  ): Promise<{ readonly verdicts: readonly InboundVerdict[]; readonly eventIds: readonly Uuid[] }> {
    if (arrived.length === 0) return { verdicts: [], eventIds: [] };
    const commands = arrived.map(([command]) => command);
    const tokens = await this.tokensOf(tx, commands);
    const evidence = arrived.map(([{ link }, , { phone, ambiguous }], ref): InboundEvidence => {
      const senders = phone === null ? [] : [phone];
      return { ref, tokens: tokens[ref] ?? [], senders, ambiguousSender: ambiguous, trusted: link.trustedForMo };
    });
    return this.o.sessions.matchInbound(tx, 'live', evidence, (found) => {
      const sealed = arrived.map(([, text]) => text);
      const rows = zip(commands, sealed, found).map((row) => messageRow(...row));
      return this.o.messages.insertInbound(tx, rows);
    });
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
      return readSender(source, country, this.o.learner.ruleOf(command.link), possible);
    });
  }

  private async receivingOf(destination: SmppAddress): Promise<ReceivingCountry> {
    const country = await this.o.carriers.receivingCountry(destination);
    return { country, possible: country === null ? await this.o.carriers.possibleCountries(destination) : [] };
  }

  /** Senders of messages without a token are read too while the link learns: they confirm or contradict its format. */
  private needsSender(command: InboundCommand): boolean {
    return (
      mayContainToken(command) || (isOfUnknownFormat(command.message.source) && this.o.learner.isLearning(command.link))
    );
  }

  /** The tokens of each message, and for a part of a long message those completed by its neighbours. */
  private async tokensOf(tx: Executor, commands: readonly InboundCommand[]): Promise<(readonly FoundToken[])[]> {
    const parts = commands.map(partOf);
    const arriving = parts.filter((part) => part !== null);
    if (arriving.length === 0) return commands.map(({ message }) => message.tokens);
    const joined = await this.o.concatenations.addParts(tx, arriving);
    let next = 0;
    return commands.map(({ message }, index) => {
      const part = parts[index] ?? null;
      const nearby = part === null ? undefined : joined[next++];
      if (part === null || nearby === undefined) return message.tokens;
      return tokensOfPart(message.tokens, part.number, nearby);
    });
  }
}

function partOf({ message, whole }: InboundCommand): MessagePart | null {
  if (message.part === null || whole === null) return null;
  return { ...whole, number: message.part.part, edges: tokenEdges(message.text) };
}

const mayContainToken = ({ message }: InboundCommand): boolean => message.tokens.length > 0 || message.part !== null;

const NOT_READ: SenderEvidence = { phone: null, ambiguous: false, shows: null };

const UNKNOWN_COUNTRY: ReceivingCountry = { country: null, possible: [] };

const isInternational = ({ ton, value }: SmppAddress): boolean => ton === TON.international || value.startsWith('+');

const keyOf = ({ ton, value }: SmppAddress): string => `${ton}:${value}`;

/** The verdicts in the order of `arrived`; null for messages that were not accepted. */
function verdictsOf(
  arrived: readonly Arrival[],
  accepted: readonly Arrival[],
  verdicts: readonly InboundVerdict[],
): (InboundVerdict | null)[] {
  if (accepted.length !== verdicts.length) throw new RangeError('lists of different lengths');
  let next = 0;
  return arrived.map((arrival) => (arrival === accepted[next] ? (verdicts[next++] ?? null) : null));
}

/** Joins three lists of equal length. Throws for others, so that a verdict never applies to a different message. */
function zip<A, B, C>(as: readonly A[], bs: readonly B[], cs: readonly C[]): [A, B, C][] {
  if (as.length !== bs.length || as.length !== cs.length) throw new RangeError('lists of different lengths');
  return as.map((a, index) => {
    const [b, c] = [bs[index], cs[index]];
    if (b === undefined || c === undefined) throw new RangeError('a list with a hole');
    return [a, b, c];
  });
}
