import { applyDecorators, Body, Controller, Get, Param, Query } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { RefusedRequest, valueOf } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { Access } from '../../http/route-access.js';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { CrudController } from '../crud/crud.controller.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery, MAX_LIMIT, type PageAnswer } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { type KeyAnswer, KeyList } from '../keys/key.view.js';
import { MemberChange, MemberDraft, MemberRemoval } from './member.dto.js';
import { MemberResource } from './member.resource.js';
import { MemberAnswer, MemberList } from './member.view.js';

const MEMBER = { resource: 'members', id: 'Member', one: 'a member', many: 'members' } as const;
const UNKNOWN = new RefusedRequest({ code: 'NOT_FOUND', message: 'There is no member with this id.' });

const ShowsKeys = (): MethodDecorator =>
  applyDecorators(
    Get(':id/keys'),
    Access({ access: 'admin', needs: 'members.keys', body: 'none' }),
    Operation({
      id: 'getMemberKeys',
      tag: 'Admin',
      summary: 'Show the keys of a member',
      description:
        'The API keys whose texts the member of an account knows, because a session of theirs made or last rotated them: the newest 100, revoked ones too. Also of a deleted member.',
      answer: { status: 200, description: 'The keys, newest first.', type: KeyList },
      errors: ['NOT_FOUND'],
    }),
  );

@Controller('v1/admin/members')
export class MembersController extends CrudController(MemberResource, {
  list: Lists(MEMBER, MemberList, {
    description: 'A role that sees full phones adds an entry to the audit log with each page.',
  }),
  create: Creates(MEMBER, MemberAnswer, {
    description: 'A person who may sign in to the console: of the installation, or of the account `accountId`.',
    errors: ['CONFLICT'],
  }),
  get: Shows(MEMBER, MemberAnswer),
  update: Updates(MEMBER, MemberAnswer, {
    description:
      'A change of `phone`, `email` or `oidc`, or of `active` to false, ends the sessions of the member. The last active owner stays one: CONFLICT. The answer lists the valid keys whose texts the member of an account knows; `revokeKeys` revokes them.',
    errors: ['CONFLICT'],
  }),
  query: AccountPageQuery,
  draft: MemberDraft,
  change: MemberChange,
  holdsPeople: true,
}) {
  @ShowsKeys()
  async showKeys(@Param('id') id: string): Promise<PageAnswer<Plain<KeyAnswer>>> {
    const keys = this.resource.keysOf(id);
    if (keys === null) throw UNKNOWN;
    return valueOf(await this.admin.list(keys, { limit: String(MAX_LIMIT) }));
  }

  @Deletes(MEMBER, {
    description:
      'Ends the sessions of the member. The last active owner is not deleted: CONFLICT. So is, without `revokeKeys`, a member of an account who knows the texts of valid keys.',
    errors: ['CONFLICT'],
  })
  async removeMember(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Query(QueryPipe) { revokeKeys }: MemberRemoval,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<void> {
    const revokes = revokeKeys === undefined ? undefined : revokeKeys === 'true';
    const resource = this.resource.forRemoval(revokes);
    valueOf(
      await this.admin.remove(resource, by, id, (tx, member) => this.resource.remove(tx, member, revokes === true, by)),
    );
  }
}
