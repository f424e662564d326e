import { ApiPropertyOptional } from '@nestjs/swagger';
import { isText, Optional, Satisfies } from '../crud/fields.js';
import { PageQuery } from '../crud/paging.js';

/** The query of GET /v1/admin/audit. */
export class AuditQuery extends PageQuery {
  @ApiPropertyOptional({
    type: 'string',
    description: 'Only this kind of resource, spelled as in its path.',
    example: 'binds',
  })
  @Satisfies(isText(/^[a-z-]{1,64}$/), 'resource must be a kind of resource, spelled as in its path.')
  @Optional()
  resource?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'Only the resource with this id.',
    example: 'brd_01HF7YAT000000000000000001',
  })
  @Satisfies(isText(/^[A-Za-z0-9_-]{1,64}$/), 'resourceId must be the id of a resource.')
  @Optional()
  resourceId?: string;
}
