import { ApiProperty } from '@nestjs/swagger';
import type { Plain } from '../crud/plain.js';
import { maskPeopleIn, maskText } from '../crud/people.js';
import { idField } from '../crud/view-fields.js';

/** The parts of the service in which entries happen; new ones may be added. */
export const TIMELINE_SOURCES = ['rest', 'smpp', 'rcs', 'guard', 'realtime', 'webhook', 'clock'] as const;

export class TimelineEntry {
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly at!: string;

  @ApiProperty({
    type: 'string',
    description:
      'What happened, such as `session.created`, `message.received` or `code.attempt`. New types may be added.',
    example: 'session.created',
  })
  readonly type!: string;

  @ApiProperty({
    type: 'string',
    enum: [...TIMELINE_SOURCES],
    description:
      'Where it happened: the API (`rest`), a carrier (`smpp`), the RCS platform, the toll-fraud guard, the broadcast to WebSockets, a webhook, or the clock. New ones may be added.',
    example: 'rest',
  })
  readonly source!: (typeof TIMELINE_SOURCES)[number];

  @ApiProperty({ type: 'string', description: 'The same in a sentence.', example: 'The session was created.' })
  readonly summary!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Fields by type, named as in the resource that they are from. Never a token, a code or a secret.',
  })
  readonly details!: Readonly<Record<string, unknown>>;
}

/** Everything that happened to a session. */
export class SessionTimeline {
  @ApiProperty(idField('sess'))
  readonly sessionId!: string;

  @ApiProperty({ type: TimelineEntry, isArray: true, description: 'Oldest first, at most 500.' })
  readonly data!: readonly Plain<TimelineEntry>[];

  @ApiProperty({ type: 'boolean', description: 'Whether more happened than is shown.' })
  readonly truncated!: boolean;
}

/** The entry without people's data. */
export const withoutPerson = (entry: Plain<TimelineEntry>): Plain<TimelineEntry> => ({
  ...entry,
  summary: maskText(entry.summary),
  details: maskPeopleIn(entry.details) as Plain<TimelineEntry>['details'],
});
