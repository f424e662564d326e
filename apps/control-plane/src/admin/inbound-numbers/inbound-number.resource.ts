import { CarrierStore, hasOwnCountry, type InboundNumber } from '@countersign/carriers/config';
import { INBOUND_NUMBERS } from '@countersign/carriers/records';
import { parseId, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome, type Refusal } from '../../http/errors.js';
import type { CrudResource, Engineer, Reply } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { trustRefusal } from '../crud/trust.js';
import type { InboundNumberChange, InboundNumberDraft } from './inbound-number.dto.js';
import { type InboundNumberAnswer, inboundNumberView } from './inbound-number.view.js';

type Answer = Plain<InboundNumberAnswer>;

const NO_SUCH_BRAND = {
  code: 'VALIDATION_ERROR',
  field: 'brandId',
  message: 'There is no brand with this id.',
} as const satisfies Refusal;

const MOVED_DIGITS =
  'its national digits are also those of a number of another country that is or was an inbound number, and a bind or system has trustedForMo';

@Injectable()
export class InboundNumberResource implements CrudResource<
  InboundNumber,
  Answer,
  InboundNumberDraft,
  InboundNumberChange
> {
  readonly name = 'inbound-numbers';
  readonly noun = 'inbound number';
  readonly idPrefix = 'num';
  readonly table = INBOUND_NUMBERS;
  readonly view = inboundNumberView;
  readonly refusals = {
    inbound_numbers_number_key: {
      code: 'CONFLICT',
      field: 'number',
      message: 'Another inbound number has this number.',
    },
    inbound_numbers_brand_id_fkey: NO_SUCH_BRAND,
  } as const;

  constructor(private readonly carriers: CarrierStore) {}

  async create(tx: Executor, draft: InboundNumberDraft, by: Engineer): Reply<InboundNumber, Answer> {
    const refusal = await this.refusalFor(tx, by, { sent: draft, stored: null, wanted: draft });
    if (refusal !== null) return { ok: false, refusal };
    const { number, countries, brandId = null } = draft;
    const brand = brandOf(brandId);
    if (!brand.ok) return brand;
    return succeed({ row: await this.carriers.createInboundNumber(tx, { number, countries, brandId: brand.value }) });
  }

  async update(
    tx: Executor,
    inbound: InboundNumber,
    body: InboundNumberChange,
    by: Engineer,
  ): Reply<InboundNumber, Answer> {
    const { brandId, ...change } = body;
    const brand = brandId === undefined ? succeed(inbound.brandId) : brandOf(brandId);
    if (!brand.ok) return brand;
    const changed = { ...inbound, ...change, brandId: brand.value };
    const refusal = await this.refusalFor(tx, by, { sent: body, stored: inbound, wanted: changed });
    if (refusal !== null) return { ok: false, refusal };
    return succeed({ row: await this.carriers.updateInboundNumber(tx, changed) });
  }

  mayRemove(tx: Executor, inbound: InboundNumber, by: Engineer): Promise<Refusal | null> {
    return this.refusalFor(tx, by, { sent: inbound, stored: inbound, wanted: null });
  }

  delete(tx: Executor, { id }: InboundNumber): Promise<void> {
    return this.carriers.deleteInboundNumber(tx, id);
  }

  private async refusalFor(
    tx: Executor,
    by: Engineer,
    change: Parameters<typeof trustRefusal>[2],
  ): Promise<Refusal | null> {
    const { stored, wanted } = change;
    const numbers = [stored, wanted].flatMap((row) => (row !== null && 'number' in row ? [row.number] : []));
    // Of two numbers with the same national digits that are created at the same time the second must see the first.
    await this.carriers.lockNumbers(tx);
    if (!(await this.carriers.hasTrustedLink(tx))) return null;
    if (!numbers.every(hasOwnCountry)) return trustRefusal(by, 'inbound-numbers', { ...change, trusted: true });
    const trusted = await this.movesNationalDigits(tx, rowOf(stored), rowOf(wanted));
    return trustRefusal(by, 'inbound-numbers', { ...change, trusted, condition: MOVED_DIGITS });
  }

  /**
   * Whether national digits would have another country than the numbers, also deleted ones, gave them: by a number that
   * appears, where those of another country had the digits; by one that goes, where another one keeps them.
   */
  private async movesNationalDigits(tx: Executor, stored: Held, wanted: Held): Promise<boolean> {
    if (stored.number === wanted.number) return false;
    if (wanted.number !== null && (await this.carriers.listWithSameDigits(tx, wanted.number, null)).length > 0)
      return true;
    const left = stored.number === null ? [] : await this.carriers.listWithSameDigits(tx, stored.number, stored.id);
    return left.some(({ isOurs }) => isOurs);
  }
}

interface Held {
  readonly id: Uuid | null;
  readonly number: string | null;
}

const rowOf = (row: object | null): Held => ({ id: null, number: null, ...row });

function brandOf(sent: string | null): Outcome<Uuid | null> {
  if (sent === null) return succeed(null);
  const brandId = parseId('brd', sent);
  return brandId === null ? { ok: false, refusal: NO_SUCH_BRAND } : succeed(brandId);
}
