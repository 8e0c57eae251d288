// SPDX-License-Identifier: Apache-2.0
// Of tests/programs/counted.cl, by ocloc 22.43 for dg2; declarations left out.
//.kernel matmul
//.platform DG2
//.instCount 88
//.RA type	TRIVIAL_RA

// B000: Preds:{},  Succs:{B001}
per_thread_prolog:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     and (1|M0)               r127.0<1>:uw  r0.4<0;1,0>:uw    0xFF:uw
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x40:uw              {I@2}
(W)     mad (1|M0)               r127.2<1>:ud  r127.2<0;0>:ud    r127.0<0;0>:uw    0xC0:uw              {I@1}
(W)     mov (8|M0)               r7.0<1>:ud    r1.0<1;1,0>:ud

// File: /tmp/model.cl

// Line 14:  }
(W)     send.dc0 (8|M0)          r1       r127    null:0  0x0            0x024844FD           {A@1,$0} // wr:1h+0, rd:4; oword aligned block read x8
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x80:uw              {$0.src}
(W)     send.dc0 (8|M0)          r5       r127    null:0  0x0            0x022843FD           {A@1,$1} // wr:1h+0, rd:2; oword aligned block read x4
        nop
        nop
        nop
// B001: Preds:{B000},  Succs:{B002}
// cross_thread_prolog:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud                              {$1.src}
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     send.dc0 (8|M0)          r8       r127    null:0  0x0            0x022843FD           {A@1,$2} // wr:1h+0, rd:2; oword aligned block read x4
// B002: Preds:{B001},  Succs:{B003, B004}
// _main:
(W)     mov (8|M0)               r5.0<1>:ud    r0.0<1;1,0>:ud                   {$1.dst}
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {A@1}

// Line 8:  int column = get_global_id(0), row = get_global_id(1);
        sync.nop                             null                             {Compacted,A@1}
        sync.nop                             null                             {Compacted,$2.dst}
(W)     mul (1|M0)               acc0.0<1>:d   r9.0<0;1,0>:d     r5.2<0;1,0>:uw   {Compacted,A@1}
(W)     mach (1|M0)              r6.0<1>:d     r9.0<0;1,0>:d     r5.1<0;1,0>:d    {Compacted}
(W)     mul (1|M0)               acc0.0<1>:d   r9.1<0;1,0>:d     r5.12<0;1,0>:uw
(W)     mach (1|M0)              r8.0<1>:d     r9.1<0;1,0>:d     r5.6<0;1,0>:d

// Line 11:  for (int k = 0; k < n; k++)
(W)     cmp (16|M0)   (gt)f1.0   null<1>:d     r8.4<0;1,0>:d     0:w

// Line 8:  int column = get_global_id(0), row = get_global_id(1);
        sync.nop                             null                             {Compacted,$0.dst}
        add3 (16|M0)             r18.0<1>:d    r8.0<0;0>:d       r3.0<1;0>:uw      r7.1<0>:d        {I@2}

// Line 11:  for (int k = 0; k < n; k++)
(W)     cmp (16|M16)  (gt)f1.0   null<1>:d     r8.4<0;1,0>:d     0:w

// Line 8:  int column = get_global_id(0), row = get_global_id(1);
        add3 (16|M16)            r20.0<1>:d    r8.0<0;0>:d       r4.0<1;0>:uw      r7.1<0>:d

// Line 13:  out[row * n + column] = sum;
(W)     mul (8|M0)               acc0.0<1>:d   r18.0<1;1,0>:d    r8.8<0;1,0>:uw   {Compacted,I@3}
        mach (8|M0)              r22.0<1>:d    r18.0<1;1,0>:d    r8.4<0;1,0>:d    {Compacted}
(W)     mul (8|M8)               acc0.0<1>:d   r19.0<1;1,0>:d    r8.8<0;1,0>:uw
        mach (8|M8)              r23.0<1>:d    r19.0<1;1,0>:d    r8.4<0;1,0>:d    {Compacted}
(W)     mul (8|M16)              acc0.0<1>:d   r20.0<1;1,0>:d    r8.8<0;1,0>:uw   {I@5}
        mach (8|M16)             r24.0<1>:d    r20.0<1;1,0>:d    r8.4<0;1,0>:d    {Compacted}
(W)     mul (8|M24)              acc0.0<1>:d   r21.0<1;1,0>:d    r8.8<0;1,0>:uw

// Line 8:  int column = get_global_id(0), row = get_global_id(1);
        add (16|M0)              r10.0<1>:d    r6.0<0;1,0>:d     r1.0<1;1,0>:uw
        add (16|M16)             r12.0<1>:d    r6.0<0;1,0>:d     r2.0<1;1,0>:uw
        add3 (16|M0)             r14.0<1>:d    r6.0<0;0>:d       r1.0<1;0>:uw      r7.0<0>:d
        add3 (16|M16)            r16.0<1>:d    r6.0<0;0>:d       r2.0<1;0>:uw      r7.0<0>:d

// Line 11:  for (int k = 0; k < n; k++)
        mach (8|M24)             r25.0<1>:d    r21.0<1;1,0>:d    r8.4<0;1,0>:d    {Compacted}
(f1.0)  goto (32|M0)                         _0_007            _0_007
// B003: [inDivergent],  Preds:{B002},  Succs:{B006}
_0_008:
        mov (16|M0)              r26.0<1>:ud   0x0:ud
        mov (16|M16)             r28.0<1>:f    0x0:f                               {Compacted}
        goto (32|M0)                         _0_007            _0_009
// B004: [inDivergent],  Preds:{B002},  Succs:{B005}
_0_007:
        join (32|M0)                         _0_009
L632:
        mov (16|M0)              r26.0<1>:ud   0x0:ud
        mov (16|M16)             r28.0<1>:f    0x0:f                               {Compacted}
(W)     mov (1|M0)               r6.1<1>:d     0:w
// B005: [inDivergent],  Preds:{B005, B004},  Succs:{B006, B005}
_0_010:

// Line 12:  sum += in[row * n + k] * in[k * n + column];
(W)     mul (1|M0)               acc0.0<1>:d   r6.1<0;1,0>:d     r8.8<0;1,0>:uw   {I@1}
(W)     mach (1|M0)              r38.0<1>:d    r6.1<0;1,0>:d     r8.4<0;1,0>:d
        add (16|M0)              r30.0<1>:d    r22.0<1;1,0>:d    r6.1<0;1,0>:d    {Compacted}
        add (16|M16)             r32.0<1>:d    r24.0<1;1,0>:d    r6.1<0;1,0>:d    {Compacted}
        add3 (16|M0)             r39.0<1>:d    r38.0<0;0>:d      r10.0<1;0>:d      r7.0<0>:d        {I@3}
        add3 (16|M16)            r41.0<1>:d    r38.0<0;0>:d      r12.0<1;0>:d      r7.0<0>:d
        shl (16|M0)              r30.0<1>:d    r30.0<1;1,0>:d    2:w               {Compacted,I@4}
        shl (16|M16)             r32.0<1>:d    r32.0<1;1,0>:d    2:w               {Compacted,I@4}
        shl (16|M0)              r39.0<1>:d    r39.0<1;1,0>:d    2:w               {Compacted,I@4}
        shl (16|M16)             r41.0<1>:d    r41.0<1;1,0>:d    2:w               {Compacted,I@4}
        add (16|M0)              r30.0<1>:d    r30.0<1;1,0>:d    r8.5<0;1,0>:d    {Compacted,I@4}
        add (16|M16)             r32.0<1>:d    r32.0<1;1,0>:d    r8.5<0;1,0>:d    {Compacted,I@4}
        add (16|M0)              r39.0<1>:d    r39.0<1;1,0>:d    r8.5<0;1,0>:d    {Compacted,I@4}
        add (16|M16)             r41.0<1>:d    r41.0<1;1,0>:d    r8.5<0;1,0>:d    {Compacted,I@4}
        send.dc1 (16|M0)         r34      r30     null:0  0x0            0x04205E00           {A@4,$3} // wr:2+0, rd:2; untyped surface read with x
        send.dc1 (16|M16)        r36      r32     null:0  0x0            0x04205E00           {A@3,$4} // wr:2+0, rd:2; untyped surface read with x
        send.dc1 (16|M0)         r43      r39     null:0  0x0            0x04205E00           {A@2,$5} // wr:2+0, rd:2; untyped surface read with x
        send.dc1 (16|M16)        r45      r41     null:0  0x0            0x04205E00           {A@1,$6} // wr:2+0, rd:2; untyped surface read with x

// Line 11:  for (int k = 0; k < n; k++)
(W)     add (1|M0)               r6.1<1>:d     r6.1<0;1,0>:d     1:w               {Compacted}
(W)     cmp (16|M0)   (lt)f0.0   null<1>:d     r6.1<0;1,0>:d     r8.4<0;1,0>:d    {I@1}
(W)     cmp (16|M16)  (lt)f0.0   null<1>:d     r6.1<0;1,0>:d     r8.4<0;1,0>:d

// Line 12:  sum += in[row * n + k] * in[k * n + column];
        sync.nop                             null                             {Compacted,$5.dst}
        mad (16|M0)              r26.0<1>:f    r26.0<1;0>:f      r43.0<1;0>:f      r34.0<1>:f       {Compacted,$3.dst}
        sync.allwr                           ($4,$6)
        mad (16|M16)             r28.0<1>:f    r28.0<1;0>:f      r45.0<1;0>:f      r36.0<1>:f       {Compacted,F@2}

// Line 11:  for (int k = 0; k < n; k++)
(f0.0)  goto.b (32|M0)                       _0_009            _0_010
// B006: Preds:{B005, B003},  Succs:{}
_0_009:
        join (32|M0)                         L992
L992:

// Line 13:  out[row * n + column] = sum;
        add3 (16|M0)             r47.0<1>:d    r22.0<1;0>:d      r10.0<1;0>:d      r7.0<0>:d
        add3 (16|M16)            r49.0<1>:d    r24.0<1;0>:d      r12.0<1;0>:d      r7.0<0>:d
        shl (16|M0)              r47.0<1>:d    r47.0<1;1,0>:d    2:w               {Compacted,I@2}
        shl (16|M16)             r49.0<1>:d    r49.0<1;1,0>:d    2:w               {Compacted,I@2}
        add (16|M0)              r47.0<1>:d    r47.0<1;1,0>:d    r8.6<0;1,0>:d    {Compacted,I@2}
        add (16|M16)             r49.0<1>:d    r49.0<1;1,0>:d    r8.6<0;1,0>:d    {Compacted,I@2}
        send.dc1 (16|M0)         null     r47     r26:2   0x0            0x04025E01           {A@2,$7} // wr:2+2, rd:0; untyped surface write with x
        send.dc1 (16|M16)        null     r49     r28:2   0x0            0x04025E01           {A@1,$8} // wr:2+2, rd:0; untyped surface write with x

// Line 14:  }
(W)     mov (8|M0)               r127.0<1>:f   r5.0<1;1,0>:f                    {Compacted}
(W)     send.ugm (1|M0)          r51      r5      null:0  0x0            0x0214031F           {$9} // wr:1+0, rd:1; fence.ugm.none.local
(W)     mov (8|M0)               null<1>:ud    r51.0<1;1,0>:ud                  {$9.dst}             //  memory fence commit; $85
(W)     send.gtwy (8|M0)         null     r127    null:0  0x0            0x02000010           {EOT,A@1} // wr:1+0, rd:0; end of thread
L1144:
        nop

