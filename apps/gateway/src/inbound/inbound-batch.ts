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
  /** Told after the commit which events it holds. Must neither throw nor wait. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
}

/** The country of the number that an MO was sent to, or those that it may be. */
interface ReceivingCountry {
  readonly country: string | null;
  readonly possible: readonly string[];
}

/** An MO with its sealed text and what its address shows of its sender. */
type Arrival = readonly [InboundCommand, Buffer, SenderEvidence];

/**
 * One transaction for a set of MOs: the parts of long messages, the sessions that their tokens name, the messages with
 * their fates. Answers after the commit, one verdict per command, in their order. Safe to run twice: a message that is
 * stored stays as it is, and a session that the first run approved makes the second a duplicate. An MO over a connection
 * whose lease does not hold has no verdict: nothing of it is written, and another gateway will be sent it again.
 */
export class InboundBatch {
  constructor(private readonly o: InboundBatchOptions) {}

  async run(commands: readonly InboundCommand[]): Promise<readonly (InboundVerdict | null)[]> {
    const senders = await this.sendersOf(commands);
    // Before the transaction, so that no row is locked while texts are sealed.
    const sealed = commands.map(({ id, message }) => this.o.keys.seal('message-text', message.text, id));
    const arrived = zip(commands, sealed, senders);
    const { verdicts, eventIds } = await this.o.database.transaction(async (tx) => {
      const taken = await this.unfenced(tx, arrived);
      const matched = await this.match(tx, taken);
      return { verdicts: verdictsOf(arrived, taken, matched.verdicts), eventIds: matched.eventIds };
    });
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    this.learn(arrived, verdicts);
    return verdicts;
  }

  /** Only from messages that are stored, and that this gateway was allowed to take. */
  private learn(arrived: readonly Arrival[], verdicts: readonly (InboundVerdict | null)[]): void {
    arrived.forEach(([{ link }, , sender], index) => {
      if (sender.shows !== null && verdicts[index] !== null) this.o.learner.observe(link, sender);
    });
  }

  /** Those that came over connections that this gateway may act on, as the database says. */
  private async unfenced(tx: Executor, arrived: readonly Arrival[]): Promise<readonly Arrival[]> {
    const leases = arrived.flatMap(([{ link }]) => (link.lease === undefined ? [] : [link.lease]));
    if (leases.length === 0) return arrived;
    const holding = await this.o.leases.findHeldLeases(tx, leases);
    return arrived.filter(([{ link }]) => link.lease === undefined || holding.has(leaseKey(link.lease)));
  }

  private async match(
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
  private async sendersOf(commands: readonly InboundCommand[]): Promise<SenderEvidence[]> {
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

  /** Messages without a token teach a link's format too, and it is they that show first when it was learned wrongly. */
  private needsSender(command: InboundCommand): boolean {
    return (
      mayShowToken(command) || (isOfUnknownFormat(command.message.source) && this.o.learner.isLearning(command.link))
    );
  }

  /** Each message's own tokens, and for a part of a long message those that its neighbours make whole. */
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

const mayShowToken = ({ message }: InboundCommand): boolean => message.tokens.length > 0 || message.part !== null;

const NOT_READ: SenderEvidence = { phone: null, ambiguous: false, shows: null };

const UNKNOWN_COUNTRY: ReceivingCountry = { country: null, possible: [] };

const isInternational = ({ ton, value }: SmppAddress): boolean => ton === TON.international || value.startsWith('+');

const keyOf = ({ ton, value }: SmppAddress): string => `${ton}:${value}`;

/** The verdicts of the messages that were taken, among all that arrived, in their order; null for the others. */
function verdictsOf(
  arrived: readonly Arrival[],
  taken: readonly Arrival[],
  verdicts: readonly InboundVerdict[],
): (InboundVerdict | null)[] {
  if (taken.length !== verdicts.length) throw new RangeError('lists of different lengths');
  let next = 0;
  return arrived.map((arrival) => (arrival === taken[next] ? (verdicts[next++] ?? null) : null));
}

/** Three lists of one length as one. Refuses others: a fate must never stand beside another's message. */
function zip<A, B, C>(as: readonly A[], bs: readonly B[], cs: readonly C[]): [A, B, C][] {
  if (as.length !== bs.length || as.length !== cs.length) throw new RangeError('lists of different lengths');
  return as.map((a, index) => {
    const [b, c] = [bs[index], cs[index]];
    if (b === undefined || c === undefined) throw new RangeError('a list with a hole');
    return [a, b, c];
  });
}
