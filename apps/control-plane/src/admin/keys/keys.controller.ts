import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Acts, Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { KeyChange, KeyDraft } from './key.dto.js';
import { KeyResource } from './key.resource.js';
import { KeyAnswer, KeyList } from './key.view.js';

const KEY = { resource: 'keys', id: 'Key', one: 'an API key', many: 'API keys' } as const;

@Controller('v1/admin/keys')
export class KeysController {
  constructor(
    private readonly admin: AdminService,
    private readonly keys: KeyResource,
  ) {}

  @Lists(KEY, KeyList)
  async list(@Query(QueryPipe) query: AccountPageQuery): Promise<Plain<KeyList>> {
    return valueOf(await this.admin.list(this.keys, query));
  }

  @Creates(KEY, KeyAnswer, {
    description:
      'By default it has all scopes and the default limits. It works at once. The key itself is in this response only.',
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: KeyDraft): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.admin.create(this.keys, by, (tx) => this.keys.create(tx, body)));
  }

  @Shows(KEY, KeyAnswer)
  async find(@Param('id') id: string): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.admin.find(this.keys, id));
  }

  @Updates(KEY, KeyAnswer, { description: '`limits` replaces all limits of the key.' })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: KeyChange,
  ): Promise<Plain<KeyAnswer>> {
    return valueOf(await this.admin.update(this.keys, by, id, (tx, row) => this.keys.update(tx, row, body)));
  }

  @Acts(KEY, { name: 'rotate', summary: 'Rotate' }, KeyAnswer, {
    description: 'The new key is in this response only. The old one ends everywhere within 5 s; the id is unchanged.',
    errors: ['CONFLICT'],
  })
  async rotate(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<KeyAnswer>> {
    const rotate = { id, action: 'rotate' };
    return valueOf(await this.admin.act(this.keys, by, rotate, (tx, row) => this.keys.rotate(tx, row)));
  }

  @Acts(KEY, { name: 'revoke', summary: 'Revoke' }, KeyAnswer, {
    description: 'It ends everywhere within 5 s, permanently. A second call changes nothing.',
  })
  async revoke(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<KeyAnswer>> {
    const revoke = { id, action: 'revoke' };
    return valueOf(await this.admin.act(this.keys, by, revoke, (tx, row) => this.keys.revoke(tx, row)));
  }
}
