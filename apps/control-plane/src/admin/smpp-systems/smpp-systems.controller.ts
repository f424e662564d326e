import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Acts, Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { SmppSystemChange, SmppSystemDraft } from './smpp-system.dto.js';
import { SmppSystemResource } from './smpp-system.resource.js';
import { SmppSystemAnswer, SmppSystemList } from './smpp-system.view.js';

const SYSTEM = { resource: 'smpp-systems', id: 'SmppSystem', one: 'an SMPP system', many: 'SMPP systems' } as const;

@Controller('v1/admin/smpp-systems')
export class SmppSystemsController {
  constructor(
    private readonly admin: AdminService,
    private readonly systems: SmppSystemResource,
  ) {}

  @Lists(SYSTEM, SmppSystemList)
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<SmppSystemList>> {
    return valueOf(await this.admin.list(this.systems, query));
  }

  @Creates(SYSTEM, SmppSystemAnswer, {
    description:
      'It may bind at once, from any address unless networks are given. A generated password is shown in this response only.',
    errors: ['CONFLICT'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: SmppSystemDraft): Promise<Plain<SmppSystemAnswer>> {
    return valueOf(await this.admin.create(this.systems, by, (tx) => this.systems.create(tx, by, body)));
  }

  @Shows(SYSTEM, SmppSystemAnswer)
  async find(@Param('id') id: string): Promise<Plain<SmppSystemAnswer>> {
    return valueOf(await this.admin.find(this.systems, id));
  }

  @Updates(SYSTEM, SmppSystemAnswer, {
    description:
      'The settings are checked at bind; an open connection that is no longer allowed is closed. While ' +
      'trustedForMo is true, only the role `owner` may change ' +
      'allowedCidrs, tlsRequired, systemId, senderFormat, carrier or password.',
    errors: ['CONFLICT'],
  })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: SmppSystemChange,
  ): Promise<Plain<SmppSystemAnswer>> {
    return valueOf(await this.admin.update(this.systems, by, id, (tx, row) => this.systems.update(tx, by, row, body)));
  }

  @Acts(SYSTEM, { name: 'rotate', summary: 'Rotate the password of' }, SmppSystemAnswer, {
    description:
      'The new password is random and shown in this response only. The next bind needs it; open connections ' +
      'stay. While trustedForMo is true, only the role `owner` may rotate.',
  })
  async rotate(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<SmppSystemAnswer>> {
    const rotate = { id, action: 'rotate' };
    return valueOf(await this.admin.act(this.systems, by, rotate, (tx, row) => this.systems.rotate(tx, by, row)));
  }

  @Deletes(SYSTEM, { description: 'Its connections are closed.' })
  async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    valueOf(await this.admin.remove(this.systems, by, id, (tx, row) => this.systems.delete(tx, row)));
  }
}
