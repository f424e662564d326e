import { Controller } from '@nestjs/common';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import { CrudController } from '../crud/crud.controller.js';
import { AccountPageQuery } from '../crud/paging.js';
import { MemberChange, MemberDraft } from './member.dto.js';
import { MemberResource } from './member.resource.js';
import { MemberAnswer, MemberList } from './member.view.js';

const MEMBER = { resource: 'members', id: 'Member', one: 'a member', many: 'members' } as const;

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
      'A change of `phone`, `email` or `oidc`, or of `active` to false, ends the sessions of the member. The last active owner stays one: CONFLICT.',
    errors: ['CONFLICT'],
  }),
  delete: Deletes(MEMBER, {
    description: 'Ends the sessions of the member. The last active owner is not deleted: CONFLICT.',
    errors: ['CONFLICT'],
  }),
  query: AccountPageQuery,
  draft: MemberDraft,
  change: MemberChange,
  holdsPeople: true,
}) {}
