import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompiledValidator } from '../http/compiled-validator.js';
import { CheckCode } from './check-code.dto.js';

const validator = CompiledValidator.compile(CheckCode);

describe('the body of POST /v1/verify/{id}/check', () => {
  it('must have a code of six digits, which is not normalized', () => {
    const digits = fc.stringMatching(/^[0-9]{5,7}$/);
    fc.assert(
      fc.property(fc.oneof(digits, fc.string(), fc.integer(), fc.constant(null)), (code) => {
        const read = validator.read(new Map([['code', code]]));
        const legal =
          typeof code === 'string' && code.length === 6 && Array.from(code).every((c) => c >= '0' && c <= '9');
        expect(read).toMatchObject(
          legal ? { ok: true, value: { code } } : { ok: false, refusal: { code: 'VALIDATION_ERROR', field: 'code' } },
        );
      }),
    );
  });
});
