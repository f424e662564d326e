import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { SessionRenderer } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';

/** A body as it is sent. */
export interface Body {
  readonly text: string;
  /** The sealed body to be written to the row; null where the row has it already. */
  readonly sealed: Buffer | null;
}

/** The columns of an event that its body shows. */
interface RenderedEvent {
  readonly id: Uuid;
  readonly type: string;
  readonly occurredAt: Date;
}

/** Renders and seals bodies, and opens sealed ones. */
@Injectable()
export class BodyRenderer {
  constructor(
    private readonly keys: ServerKeys,
    private readonly renderer: SessionRenderer,
  ) {}

  /** JSON text of the data of an event that shows its session. */
  dataOf(session: Session): string {
    return this.renderer.full(session);
  }

  renderAndSeal(row: RenderedEvent, data: string | undefined): Body {
    if (data === undefined) throw new Error('the data of the event no longer exists');
    const text = renderBody(row, data);
    return { text, sealed: this.keys.seal('webhook-body', text, row.id) };
  }

  open(id: Uuid, sealed: Buffer): Body {
    return { text: this.keys.open('webhook-body', sealed, id).toString('utf8'), sealed: null };
  }
}

/** The body of a webhook: the three members of Standard Webhooks. `data` is JSON text, inserted unchanged. */
export function renderBody(event: { readonly type: string; readonly occurredAt: Date }, data: string): string {
  return `{"type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}","data":${data}}`;
}
