"""What text looks like that speaks to the model in other languages than English: RE2 patterns.

Beside `injection_rules.py`, and read as that one is. German, French and Spanish have kinds that
English has: what was said before is void, words to the model, a duty of it, another nature for it.
The others have the first kind.
"""

VOID = (
    (
        r"(?:ignorier\w*|vergiss|vergessen\s+sie|missachte\w*)\s+(?:\w+\s+){0,2}?"
        r"(?:vorherig|vorig|bisherig|obig|fr[uü]her)\w*\s+\w*(?:anweisung|instruktion|befehl|regel)"
    ),
    (
        r"(?:ignor|oubli)\w*\s+(?:\w+\s+){0,2}?(?:instruction|consigne|directive|r[eè]gle)s?\s+"
        r"(?:pr[ée]c[ée]dent|ant[ée]rieur|ci-dessus)"
    ),
    (
        r"(?:ignor|olvid|omit)\w*\s+(?:\w+\s+){0,3}?(?:instrucci[oó]n|indicaci[oó]n|[oó]rden|regla)(?:e?s)?\s+"
        r"(?:anterior|previa|de\s+arriba)"
    ),
    (
        r"(?:ignor|dimentic)\w*\s+(?:\w+\s+){0,2}?(?:istruzioni|indicazioni|regole)\s+"
        r"(?:precedent|sopra)"
    ),
    (
        r"(?:ignor|esque[cç])\w*\s+(?:\w+\s+){0,3}?(?:instru[cç][oõ]es|ordens|regras)\s+"
        r"(?:anterior|acima|pr[ée]via)"
    ),
    (
        r"negeer\s+(?:\w+\s+){0,2}?(?:eerdere|vorige|voorgaande|bovenstaande)\s+"
        r"(?:instructies|opdrachten|regels)"
    ),
    (
        r"(?:zi?gnoruj|zapomnij)\s+(?:o\s+)?(?:\pL+\s+){0,2}?(?:poprzedni|wcze[sś]niejsz)\pL*\s+"
        r"(?:instrukcj|polece)"
    ),
    r"(?:ignoruj|zapome[nň])\pL*\s+(?:\pL+\s+){0,2}?p[rř]edchoz[ií]\pL*\s+(?:pokyn|instrukc)",
    (
        r"(?:игнорир|забуд|отмен)\pL*\s+(?:\pL+\s+){0,2}?(?:предыдущ|прежн|вышеуказанн)\pL*\s+"
        r"(?:инструкц|указан|команд|правил)"
    ),
    r"(?:ігнору|забуд)\pL*\s+(?:\pL+\s+){0,2}?попередн\pL*\s+(?:інструкц|вказівк)",
    r"önceki\s+(?:\pL+\s+){0,2}?(?:talimat|komut|yönerge)\pL*\s+(?:yok\s+say|görmezden|unut|dikkate)",
    r"(?:忽略|忽視|无视|無視|忘记|忘記|不要理会)\S{0,8}(?:指令|指示|说明|說明|提示|规则|規則)",
    r"(?:以前|これまで|上記|前|今まで)の\S{0,6}(?:指示|命令|ルール)\S{0,4}(?:無視|忘れ|従わ)",
    r"이전\S{0,3}\s*(?:모든\s*)?(?:지시|명령|지침)\S{0,4}\s*(?:무시|잊)",
    r"تجاهل\s+(?:\pL+\s+){0,2}?(?:التعليمات|الأوامر)",
    r"(?:पिछले|पूर्व|उपरोक्त)\s+(?:\S+\s+){0,2}?निर्देशों",
    r"\bvergiss\w*,?\s+(?:alles,?\s+)?was\s+(?:dir|man\s+dir|ich\s+dir|du)\b",
    r"\bsetz\w*\s+dich\s+[uü]ber\s+(?:\pL+\s+){1,4}?hinweg\b",
    r"\bmissacht\w*\s+(?:die|alle|deine|jede)\s+(?:\pL+\s+)?(?:regel|anweisung|vorgabe|richtlinie)",
    (
        r"\bne\s+(?:tiens|tenez|tenir|suis|suivez)\s+(?:pas|plus|aucun)\s+(?:compte\s+)?"
        r"(?:de\s+|des\s+|les\s+|tes\s+)(?:\pL+\s+)?(?:instructions|consignes|r[èe]gles|directives)"
    ),
    r"\boubli\w+\s+(?:tout\s+)?ce\s+qu(?:e\s+je\s+|['’]on\s+)(?:t['’]a|vous\s+a)",
    (
        r"\bno\s+(?:hagas?|hagan|sigas?)\s+(?:caso\s+)?(?:de\s+|a\s+)?(?:las\s+|tus\s+|los\s+)?"
        r"(?:\pL+\s+)?(?:reglas|instrucciones|indicaciones|[oó]rdenes)\b"
    ),
    r"\bolvid\w+\s+(?:todo\s+)?lo\s+que\s+(?:te|le|se\s+te)\s",
)
WORDS = (
    (
        r"\b(?:anweisung|hinweis|achtung)\w*\s+(?:an|für)\s+(?:die\s+|den\s+|das\s+)?"
        r"(?:ki|sprachmodell|copilot|assistent\w*)\b|\bdu\s+bist\s+(?:jetzt|ab\s+jetzt|nun)\s+ein"
    ),
    (
        r"\b(?:tu\s+es|vous\s+[êe]tes)\s+(?:maintenant|d[ée]sormais)\s|\b(?:ahora\s+eres|a\s+partir\s+de"
        r"\s+ahora\s+(?:eres|debes|act[uú]a))\b"
    ),
    r"(?:你|您)(?:现在是|現在是|必须|必須|应该忽略)|あなたは(?:今|これ)から|теперь\s+ты\s|ты\s+теперь\s",
    (
        r"\b(?:an|für|fuer)\s+(?:den|die|das|alle|jede\w*)\s+(?:ki|bots?|sprachmodelle?|assistenten"
        r"|copiloten|llms?)\s*[:,]"
    ),
    (
        r"\b(?:der\s+(?:assistent|bot|copilot)|die\s+ki|das\s+sprachmodell)\s+"
        r"(?:muss|soll|sollte|darf|kann|hat)\s+(?:ab\s+(?:jetzt|sofort)|nun|jetzt|nur|nicht|alle|immer|keine)\b"
    ),
    (
        r"\b(?:note|attention|message|consignes?|avis)\s+(?:pour|à|a)\s+(?:l['’]|le\s+|la\s+|les\s+)?"
        r"(?:ia|mod[èe]le|assistant|bot|llm)\b|à\s+l['’]attention\s+(?:de\s+l['’]|du\s+)(?:ia|assistant|mod[èe]le|bot)\b"
    ),
    r"\bl['’](?:ia|assistant)\s+(?:doit|devra|peut)\s+(?:d[ée]sormais|maintenant|toujours|ne\b|\pL+er\b)",
    (
        r"\b(?:mensaje|nota|aviso|instrucci[oó]n\w*)\s+(?:para|a)\s+(?:la\s+ia|el\s+(?:asistente|modelo|bot)"
        r"|cualquier\s+(?:ia|modelo))\b"
    ),
    r"\b(?:el\s+asistente|la\s+ia)\s+(?:debe|deber[ií]a|tiene\s+que|puede)\s+(?:\pL+\s+)?\pL+[aei]r\b",
    (
        r"\b(?:assistent\w*|ki|agent\w*)\s+ohne\s+(?:einschr[äa]nkung|regel|grenze|filter)"
        r"|\b(?:assistant|agent|ia)\s+sans\s+(?:aucune\s+)?(?:limite|r[èe]gle|restriction|filtre)"
        r"|\b(?:asistente|agente|ia)\s+sin\s+(?:ninguna\s+)?(?:regla|restriccion|l[ií]mite|filtro)"
    ),
    (
        r"\b(?:tu\s+so,?\s+als\s+(?:ob|w[äa]re)|fais\s+(?:comme\s+si|semblant)|haz\s+como\s+si"
        r"|finge\s+que)\b"
    ),
    (
        r"\bsystemprompt\b|\b(?:dein\w*|ton|tes|tu)\s+(?:system[- ]?)?prompt\b"
        r"|\b(?:ton|tes)\s+(?:invite\s+syst[èe]me|instructions\s+syst[èe]me)"
    ),
    r"\b(?:system|syst[èe]me|sistema)\s*:\s*(?:neue|nouvelle|nueva)\s+(?:regel|r[èe]gle|regla|anweisung|consigne|instrucci)",
)
OTHER_LANGUAGES = (*VOID, *WORDS)
