import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Acts, Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { AdminKeyChange, AdminKeyDraft } from './admin-key.dto.js';
import { AdminKeyResource } from './admin-key.resource.js';
import { AdminKeyAnswer, AdminKeyList } from './admin-key.view.js';

const KEY = { resource: 'admin-keys', id: 'AdminKey', one: 'an admin key', many: 'admin keys' } as const;

@Controller('v1/admin/admin-keys')
export class AdminKeysController {
  constructor(
    private readonly admin: AdminService,
    private readonly keys: AdminKeyResource,
  ) {}

  @Lists(KEY, AdminKeyList, { description: 'Without the key of the environment, which is an owner named `root`.' })
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<AdminKeyList>> {
    return valueOf(await this.admin.list(this.keys, query));
  }

  @Creates(KEY, AdminKeyAnswer, {
    description: 'It works at once. The key itself is in this response only.',
    errors: ['CONFLICT'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: AdminKeyDraft): Promise<Plain<AdminKeyAnswer>> {
    return valueOf(await this.admin.create(this.keys, by, (tx) => this.keys.create(tx, body)));
  }

  @Shows(KEY, AdminKeyAnswer)
  async find(@Param('id') id: string): Promise<Plain<AdminKeyAnswer>> {
    return valueOf(await this.admin.find(this.keys, id));
  }

  @Updates(KEY, AdminKeyAnswer, { errors: ['CONFLICT'] })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: AdminKeyChange,
  ): Promise<Plain<AdminKeyAnswer>> {
    return valueOf(await this.admin.update(this.keys, by, id, (tx, row) => this.keys.update(tx, row, body)));
  }

  @Acts(KEY, { name: 'rotate', summary: 'Rotate' }, AdminKeyAnswer, {
    description: 'The new key is in this response only. The old one ends everywhere within 5 s; the id is unchanged.',
    errors: ['CONFLICT'],
  })
  async rotate(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<AdminKeyAnswer>> {
    const rotate = { id, action: 'rotate' };
    return valueOf(await this.admin.act(this.keys, by, rotate, (tx, row) => this.keys.rotate(tx, row)));
  }

  @Acts(KEY, { name: 'revoke', summary: 'Revoke' }, AdminKeyAnswer, {
    description: 'It ends everywhere within 5 s, open WebSockets included, permanently. A second call changes nothing.',
  })
  async revoke(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<AdminKeyAnswer>> {
    const revoke = { id, action: 'revoke' };
    return valueOf(await this.admin.act(this.keys, by, revoke, (tx, row) => this.keys.revoke(tx, row)));
  }
}
