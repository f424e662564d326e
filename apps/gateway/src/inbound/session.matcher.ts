import { ConcatenationStore, MessageStore, type MessagePart } from '@countersign/carriers/inbound';
import type { Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import type { Executor } from '@countersign/postgres';
import { SessionStore, type InboundEvidence } from '@countersign/session';
import type { InboundVerdict } from '@countersign/session/rules';
import type { FoundToken } from '@countersign/session/tokens';
import type { Arrival } from './arrival.reader.js';
import { messageRow, type InboundCommand } from './inbound-command.js';
import { encodePart, partEdges } from './part-octets.js';
import { tokensOfPart } from './part-tokens.js';
import { zip } from './zip.js';

/** Matches MOs with sessions by token, and stores the messages with their fates. */
@Injectable()
export class SessionMatcher {
  constructor(
    private readonly concatenations: ConcatenationStore,
    private readonly sessions: SessionStore,
    private readonly messages: MessageStore,
  ) {}

  /** One verdict per arrival, in order; the events are to be notified after the commit. */
  async matchSessions(
    tx: Executor,
    arrived: readonly Arrival[],
  ): Promise<{ readonly verdicts: readonly InboundVerdict[]; readonly eventIds: readonly Uuid[] }> {
    if (arrived.length === 0) return { verdicts: [], eventIds: [] };
    const commands = arrived.map(([command]) => command);
    const tokens = await this.tokensOf(tx, commands);
    const evidence = arrived.map(([{ link }, , { phone, ambiguous }], index): InboundEvidence => {
      const senders = phone === null ? [] : [phone];
      return { tokens: tokens[index] ?? [], senders, ambiguousSender: ambiguous, trusted: link.trustedForMo };
    });
    return this.sessions.matchInbound(tx, 'live', evidence, (found) => {
      const sealed = arrived.map(([, text]) => text);
      const rows = zip(commands, sealed, found).map((row) => messageRow(...row));
      return this.messages.insertInbound(tx, rows);
    });
  }

  /** The tokens of each message, and for a part of a long message those completed by its neighbours. */
  private async tokensOf(tx: Executor, commands: readonly InboundCommand[]): Promise<(readonly FoundToken[])[]> {
    const parts = commands.map(partOf);
    const arriving = parts.filter((part) => part !== null);
    if (arriving.length === 0) return commands.map(({ message }) => message.tokens);
    const nearbyParts = await this.concatenations.addParts(tx, arriving);
    let next = 0;
    return commands.map(({ message }, index) => {
      const part = parts[index] ?? null;
      const nearby = part === null ? undefined : nearbyParts[next++];
      if (part === null || nearby === undefined) return message.tokens;
      return tokensOfPart(message.tokens, part.number, nearby);
    });
  }
}

function partOf({ message, whole }: InboundCommand): MessagePart | null {
  if (message.part === null || whole === null) return null;
  const edges = encodePart({ edges: partEdges(message.text, message.octets), octets: message.octets });
  return { ...whole, number: message.part.part, edges };
}
