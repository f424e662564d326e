import { isUuid } from '@countersign/ids';
import { newCardEventId, plainAgentId, type CardAnswers, type NewCardEvent } from '@countersign/rcs/rules';
import type { DatabaseClock } from '@countersign/postgres';
import type { PlatformEvent } from './platform-event.js';

export interface RecordParts {
  readonly answers: Pick<CardAnswers, 'parsePostback'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
}

/**
 * An event in its stored form. Of a tap only the choice of one of our buttons is stored: a foreign postback names no card
 * and decides nothing.
 */
export function eventRecordOf(event: PlatformEvent, { answers, clock }: RecordParts): NewCardEvent {
  const { kind, phone, launchState } = event;
  const tapped = event.postback === null ? null : answers.parsePostback(event.postback);
  const messageId = event.messageId?.toLowerCase() ?? '';
  const id = newCardEventId(event.occurredAt?.getTime() ?? Number.NaN, event.name, clock);
  return {
    id,
    kind,
    agentId: plainAgentId(event.agentId),
    phone,
    messageId: isUuid(messageId) ? messageId : null,
    cardId: tapped?.cardId ?? null,
    choice: tapped?.choice ?? null,
    launchState,
    occurredAt: event.occurredAt ?? new Date(clock.nowMs()),
  };
}
