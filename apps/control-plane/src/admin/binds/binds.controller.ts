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
import { BindChange, BindDraft } from './bind.dto.js';
import { BindResource } from './bind.resource.js';
import { BindAnswer, BindList } from './bind.view.js';

const BIND = { resource: 'binds', id: 'Bind', one: 'a bind', many: 'binds' } as const;

@Controller('v1/admin/binds')
export class BindsController {
  constructor(
    private readonly admin: AdminService,
    private readonly binds: BindResource,
  ) {}

  @Lists(BIND, BindList)
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<BindList>> {
    return valueOf(await this.admin.list(this.binds, query));
  }

  @Creates(BIND, BindAnswer, {
    description:
      'A gateway connects within 2 s. host and port are short for a list of one. Omitted fields get the documented defaults; the default name is made of systemId and host, the default carrier is the name.',
    errors: ['CONFLICT'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: BindDraft): Promise<Plain<BindAnswer>> {
    return valueOf(await this.admin.create(this.binds, by, (tx) => this.binds.create(tx, by, body)));
  }

  @Shows(BIND, BindAnswer)
  async find(@Param('id') id: string): Promise<Plain<BindAnswer>> {
    return valueOf(await this.admin.find(this.binds, id));
  }

  @Updates(BIND, BindAnswer, {
    description:
      'When the change requires it, connections are established anew after their open requests are answered. While trustedForMo is ' +
      'true, only the role `owner` may change hosts (host, port), tls, systemId, senderFormat, carrier or password. Otherwise a ' +
      'change of hosts (host, port) or tls needs the password in the same request, or the role `owner`: the password is sent to ' +
      'the new peer.',
    errors: ['CONFLICT'],
  })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: BindChange,
  ): Promise<Plain<BindAnswer>> {
    return valueOf(await this.admin.update(this.binds, by, id, (tx, row) => this.binds.update(tx, by, row, body)));
  }

  @Deletes(BIND, {
    description: 'Open requests are finished, then it is unbound. A bind with a route cannot be deleted.',
    errors: ['CONFLICT'],
  })
  async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    valueOf(await this.admin.remove(this.binds, by, id, (tx, row) => this.binds.delete(tx, row)));
  }

  @Acts(BIND, { name: 'enable', summary: 'Enable' }, BindAnswer, {
    description: 'A gateway connects within 2 s.',
  })
  async enable(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    const enable = { id, action: 'enable' };
    return valueOf(await this.admin.act(this.binds, by, enable, (tx, row) => this.binds.enable(tx, row)));
  }

  @Acts(BIND, { name: 'disable', summary: 'Disable' }, BindAnswer, {
    description: 'Open requests are finished (10 s at most), then it is unbound until it is enabled.',
  })
  async disable(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    const disable = { id, action: 'disable' };
    return valueOf(await this.admin.act(this.binds, by, disable, (tx, row) => this.binds.disable(tx, row)));
  }

  @Acts(BIND, { name: 'reconnect', summary: 'Reconnect' }, BindAnswer, {
    description:
      'Each of its connections is drained and established anew, without waiting for a pending backoff. No effect on a disabled bind.',
  })
  async reconnect(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    const reconnect = { id, action: 'reconnect' };
    return valueOf(await this.admin.act(this.binds, by, reconnect, (tx, row) => this.binds.reconnect(tx, row)));
  }

  @Acts(BIND, { name: 'drain', summary: 'Drain' }, BindAnswer, {
    description: 'Same as disable: open requests are finished (10 s at most), then it is unbound until it is enabled.',
  })
  async drain(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    const drain = { id, action: 'drain' };
    return valueOf(await this.admin.act(this.binds, by, drain, (tx, row) => this.binds.disable(tx, row)));
  }
}
