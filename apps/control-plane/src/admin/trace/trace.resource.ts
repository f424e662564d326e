import { PubSub, TOPICS } from '@countersign/bus';
import { type BindRecord, BINDS } from '@countersign/carriers/records';
import { recordFully } from '@countersign/carriers/traces';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../../http/errors.js';
import type { AdminResource, Written } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { type FullTraceView, fullTraceView } from './trace.view.js';

type Answer = Plain<FullTraceView>;

/** The recording of texts of a bind: the part of a bind that this action changes. */
@Injectable()
export class TraceResource implements AdminResource<BindRecord, Answer> {
  readonly name = 'binds';
  readonly noun = 'bind';
  readonly idPrefix = 'bind';
  readonly table = BINDS;
  readonly view = fullTraceView;
  readonly refusals = {};

  constructor(private readonly bus: PubSub) {}

  /** Gateways read the change at once; without this message, within 2 s. */
  readonly committed = (): void => this.bus.publish(TOPICS.binds);

  async recordFully(tx: Executor, bind: BindRecord, seconds: number): Promise<Outcome<Written<BindRecord, Answer>>> {
    return succeed({ row: { ...bind, fullTraceUntil: await recordFully(tx, bind.id, seconds) } });
  }
}
