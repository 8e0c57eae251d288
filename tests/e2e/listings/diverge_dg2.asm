// SPDX-License-Identifier: Apache-2.0
// Of tests/programs/counted.cl, by ocloc 22.43 for dg2; declarations left out.
//.kernel diverge
//.platform DG2
//.instCount 69
//.RA type	TRIVIAL_RA

// B000: Preds:{},  Succs:{B001}
per_thread_prolog:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     and (1|M0)               r127.0<1>:uw  r0.4<0;1,0>:uw    0xFF:uw
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x40:uw              {I@2}
(W)     mad (1|M0)               r127.2<1>:ud  r127.2<0;0>:ud    r127.0<0;0>:uw    0x60:uw              {I@1}
(W)     mov (8|M0)               r4.0<1>:ud    r1.0<1;1,0>:ud

// File: /tmp/model.cl

// Line 59:  }
(W)     send.dc0 (8|M0)          r1       r127    null:0  0x0            0x022843FD           {A@1,$0} // wr:1h+0, rd:2; oword aligned block read x4
(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x40:uw              {$0.src}
(W)     send.dc0 (8|M0)          r3       r127    null:0  0x0            0x021842FD           {A@1,$1} // wr:1h+0, rd:1; oword aligned block read x2
        nop
        nop
        nop
// B001: Preds:{B000},  Succs:{B002}
// cross_thread_prolog:
(W)     mov (8|M0)               r127.0<1>:ud  0x0:ud                              {$1.src}
(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     send.dc0 (8|M0)          r5       r127    null:0  0x0            0x022843FD           {A@1,$2} // wr:1h+0, rd:2; oword aligned block read x4
// B002: Preds:{B001},  Succs:{B003, B008}
// _main:
(W)     mov (8|M0)               r2.0<1>:ud    r0.0<1;1,0>:ud                   {$0.dst}
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {A@1}

// Line 49:  int i = get_global_id(0);
        sync.nop                             null                             {Compacted,A@1}
        sync.nop                             null                             {Compacted,$2.dst}
(W)     mul (1|M0)               acc0.0<1>:d   r6.2<0;1,0>:d     r2.2<0;1,0>:uw   {A@1}
(W)     mach (1|M0)              r3.0<1>:d     r6.2<0;1,0>:d     r2.1<0;1,0>:d    {$1.dst}
        add3 (16|M0)             r9.0<1>:d     r3.0<0;0>:d       r1.0<1;0>:uw      r4.0<0>:d        {I@1}

// Line 52:  if (i & 1) {
        and (16|M0)   (eq)f0.1   null<1>:d     r9.0<1;1,0>:d     1:w               {I@1}

// Line 49:  int i = get_global_id(0);
        add (16|M0)              r7.0<1>:d     r3.0<0;1,0>:d     r1.0<1;1,0>:uw

// Line 52:  if (i & 1) {
(f0.1)  goto (16|M0)                         _0_010            _0_010
// B003: [inDivergent],  Preds:{B002},  Succs:{B004, B005}
_0_011:

// Line 53:  for (int k = 0; k < i % 7; k++)
(W)     mul (8|M0)               acc0.0<1>:d   r9.0<1;1,0>:d     0x2493:uw
        mach (8|M0)              r11.0<1>:d    r9.0<1;1,0>:d     -1840700269:d               {AccWrEn}
(W)     mul (8|M0)               acc0.0<1>:d   r10.0<1;1,0>:d    0x2493:uw
        mach (8|M8)              r12.0<1>:d    r10.0<1;1,0>:d    -1840700269:d               {AccWrEn}
        add3 (16|M0)             r13.0<1>:d    r11.0<1;0>:d      r7.0<1;0>:d       r4.0<0>:d        {I@1}
        asr (16|M0)              r15.0<1>:d    r13.0<1;1,0>:d    2:w               {Compacted,I@1}
        shr (16|M0)              r13.0<1>:d    r13.0<1;1,0>:ud   31:w               {Compacted}
        add (16|M0)              r15.0<1>:d    r15.0<1;1,0>:d    r13.0<1;1,0>:d   {Compacted,I@1}
        mad (16|M0)              r17.0<1>:d    r9.0<1;0>:d       r15.0<1;0>:d      -7:w               {I@1}
        cmp (16|M0)   (gt)f0.0   null<1>:d     r17.0<1;1,0>:d    0:w               {Compacted,I@1}
(f0.0)  goto (16|M0)                         _0_012            _0_012
// B004: [inDivergent],  Preds:{B003},  Succs:{B009}
_0_013:
        mov (16|M0)              r19.0<1>:ud   0x0:ud
        goto (16|M0)                         _0_012            _0_014
// B005: [inDivergent],  Preds:{B003},  Succs:{B006}
_0_012:
        join (16|M0)                         _0_010
L576:
(W)     mov (1|M0)               r3.1<1>:d     0:w
(W)     mov (1|M0)               r3.2<1>:f     0x0:f                               {Compacted}
// B006: [inDivergent],  Preds:{B006, B005},  Succs:{B007, B006}
_0_015:

// Line 54:  sum += in[k * n];
(W)     mul (1|M0)               acc0.0<1>:d   r3.1<0;1,0>:d     r5.8<0;1,0>:uw   {I@1}
(W)     mach (1|M0)              r5.0<1>:d     r3.1<0;1,0>:d     r5.4<0;1,0>:d

// Line 53:  for (int k = 0; k < i % 7; k++)
(W)     add (1|M0)               r3.1<1>:d     r3.1<0;1,0>:d     1:w               {Compacted}

// Line 54:  sum += in[k * n];
(W)     shl (1|M0)               r3.3<1>:d     r5.0<0;1,0>:d     2:w               {Compacted,I@2}

// Line 53:  for (int k = 0; k < i % 7; k++)
        cmp (16|M0)   (lt)f1.0   null<1>:d     r3.1<0;1,0>:d     r17.0<1;1,0>:d   {I@2}

// Line 54:  sum += in[k * n];
(W)     add (1|M0)               r21.0<1>:d    r3.3<0;1,0>:d     r6.0<0;1,0>:d    {Compacted,I@2}
(W)     send.dc0 (1|M0)          r22      r21     null:0  0x0            0x02110800           {A@1,$3} // wr:1+0, rd:1; byte gathering read 32b
        sync.nop                             null                             {Compacted,$3.dst}
(W)     add (1|M0)               r3.2<1>:f     r3.2<0;1,0>:f     r22.0<0;1,0>:f   {F@1}

// Line 53:  for (int k = 0; k < i % 7; k++)
        mov (16|M0)              r19.0<1>:f    r3.2<0;1,0>:f                    {Compacted,F@1}
(f1.0)  goto.b (16|M0)                       _diverge_k0_0_    _0_015
// B007: [inDivergent],  Preds:{B006},  Succs:{B009}
_diverge_k0_0_:
        join (16|M0)                         _0_010
L752:
        goto (16|M0)                         _0_010            _0_014
// B008: [inDivergent],  Preds:{B002},  Succs:{B009}
_0_010:
        join (16|M0)                         _0_014
L784:

// Line 56:  sum = sqrt(in[i]);
        shl (16|M0)              r23.0<1>:d    r9.0<1;1,0>:d     2:w               {Compacted}
        add (16|M0)              r23.0<1>:d    r23.0<1;1,0>:d    r6.0<0;1,0>:d    {Compacted,I@1}
        send.dc1 (16|M0)         r25      r23     null:0  0x0            0x04205E00           {A@1,$4} // wr:2+0, rd:2; untyped surface read with x
        sync.nop                             null                             {Compacted,F@1}
        math.sqt (16|M0)         r19.0<1>:f    r25.0<1;1,0>:f                   {$4}
// B009: Preds:{B008, B007, B004},  Succs:{}
_0_014:
        join (16|M0)                         L856
L856:

// Line 58:  out[i] = sum;
        shl (16|M0)              r27.0<1>:d    r9.0<1;1,0>:d     2:w               {Compacted}
        add (16|M0)              r27.0<1>:d    r27.0<1;1,0>:d    r6.1<0;1,0>:d    {Compacted,I@1}
        send.dc1 (16|M0)         null     r27     r19:2   0x0            0x04025E01           {A@1,$4} // wr:2+2, rd:0; untyped surface write with x

// Line 59:  }
(W)     mov (8|M0)               r127.0<1>:f   r2.0<1;1,0>:f                    {Compacted}
(W)     send.ugm (1|M0)          r29      r2      null:0  0x0            0x0214031F           {$5} // wr:1+0, rd:1; fence.ugm.none.local
(W)     mov (8|M0)               null<1>:ud    r29.0<1;1,0>:ud                  {$5.dst}             //  memory fence commit; $66
(W)     send.gtwy (8|M0)         null     r127    null:0  0x0            0x02000010           {EOT,A@1} // wr:1+0, rd:0; end of thread
L944:
        nop

