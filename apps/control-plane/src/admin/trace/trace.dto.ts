import { FULL_TRACE_SECONDS, TRACE_FORMATS, type TraceFormat } from '@countersign/carriers/traces';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { isWholeNumber, Satisfies } from '../crud/fields.js';

const { min, max } = FULL_TRACE_SECONDS;

/** The query of GET /v1/admin/binds/{id}/trace. */
export class TraceQuery {
  @ApiPropertyOptional({
    type: 'string',
    enum: [...TRACE_FORMATS],
    default: 'json',
    description: '`pcap` is a capture file that Wireshark opens, for the roles `operator` and `owner`.',
  })
  @IsIn([...TRACE_FORMATS], failsWith(`format must be one of ${TRACE_FORMATS.join(', ')}.`))
  format: TraceFormat = 'json';
}

/** The body of POST /v1/admin/binds/{id}/trace. */
export class FullTraceDraft {
  @ApiProperty({ type: 'integer', minimum: min, maximum: max, description: 'Duration from now.', example: 60 })
  @Satisfies(isWholeNumber(min, max), `seconds must be a whole number from ${min} to ${max}.`)
  seconds!: number;
}
